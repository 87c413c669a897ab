# The manager's image: docker build -t muster:dev .
# Without a container engine, hack/image makes one of the same layout.
FROM debian:bookworm AS build
WORKDIR /src
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates
# A layer of its own: dependencies change less often than sources.
COPY hack hack
RUN hack/deps
COPY . .
RUN cmake --preset release && cmake --build --preset release
# Only the binary and the libraries that it names, each at its own path.
RUN mkdir -p /image/etc /image/tmp && chmod 1777 /image/tmp \
 && cp build/release/cmd/muster /image/muster \
 && printf 'root:x:0:0:root:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/:/sbin/nologin\n' >/image/etc/passwd \
 && printf 'root:x:0:\nnonroot:x:65532:\n' >/image/etc/group \
 && ldd /image/muster | grep -o '/[^ ]*\.so[^ ]*' | xargs cp --parents --dereference --target-directory=/image

FROM scratch
COPY --from=build /image/ /
ENV SSL_CERT_FILE=/dev/null
USER 65532:65532
WORKDIR /
ENTRYPOINT ["/muster"]
