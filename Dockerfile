# For systems other than Debian 12 and Ubuntu 24.04: the simulator, and with an NVIDIA GPU the real measurements.
#
#   docker build -t attnprof .
#   docker run --rm -v "$PWD:/data" -w /data attnprof sweep -o sweep.csv                       # simulator
#   docker run --rm --gpus all --cap-add=SYS_ADMIN -v "$PWD:/data" -w /data attnprof sweep -o sweep.csv
#
# --cap-add=SYS_ADMIN lets the container read hardware counters; being root in it is not enough. Without it times and
# model columns still come. On a host whose driver has NVreg_RestrictProfilingToAdminUsers=0 it is not needed.
FROM debian:12-slim

WORKDIR /opt/attnprof
COPY . .
RUN scripts/setup.sh --with-cublas \
    && cmake --preset release \
    && cmake --build --preset release \
    && cmake --install build/release --prefix /usr/local \
    && rm -rf build /var/lib/apt/lists/*

# Where the wheels put compiler, CUPTI and cuBLAS; what NVIDIA's container runtime is to bring in of the driver.
ENV CUDA_HOME=/opt/attnprof/.venv/lib/python3.11/site-packages/nvidia/cu13 \
    NVIDIA_VISIBLE_DEVICES=all \
    NVIDIA_DRIVER_CAPABILITIES=compute,utility
ENTRYPOINT ["attnprof"]
