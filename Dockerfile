# The image of Postern: `docker build -t postern .`; docs/guide/install.md says how to run it.
#
# BASE is any Debian or Ubuntu image with Python 3.11 or newer and its venv module. Where pip needs a mirror, give
# --build-arg PIP_INDEX_URL=…, and PIP_CERT=… if its certificate is not among the public ones.
ARG BASE=docker.io/library/python:3.12-slim-bookworm

FROM ${BASE} AS build
ARG PIP_INDEX_URL
ARG PIP_CERT
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
WORKDIR /source
RUN python3 -m venv /opt/postern
# The dependencies are a layer of their own, which changes only with uv.lock.
COPY uv.lock ./
COPY script/pins.py script/
RUN /opt/postern/bin/python script/pins.py run >pins.txt \
    && /opt/postern/bin/python -m pip install --quiet --no-deps --require-hashes -r pins.txt
COPY pyproject.toml README.md LICENSE ./
COPY postern postern
COPY migrations migrations
COPY docs/guide docs/guide
RUN /opt/postern/bin/python -m pip install --quiet --no-deps . \
    && /opt/postern/bin/python -m pip uninstall --quiet --yes setuptools pip

FROM ${BASE}
LABEL org.opencontainers.image.title="Postern" \
    org.opencontainers.image.description="Self-hosted e-mail delivery and customer identity behind one HTTP API" \
    org.opencontainers.image.licenses="MIT"
# As process 1, tini forwards signals and reaps the processes whose parents have ended.
RUN command -v tini >/dev/null \
    || { apt-get update -qq && apt-get install -y -qq --no-install-recommends tini && rm -rf /var/lib/apt/lists/*; }
RUN groupadd --gid 10001 postern \
    && useradd --uid 10001 --gid 10001 --home-dir /var/lib/postern --no-create-home --shell /usr/sbin/nologin postern \
    && install -d -o 10001 -g 10001 -m 0700 /var/lib/postern
COPY --from=build /opt/postern /opt/postern
ENV PATH=/opt/postern/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    PYTHONDONTWRITEBYTECODE=1 \
    POSTERN_DATA=/var/lib/postern \
    POSTERN_HOST=0.0.0.0 \
    POSTERN_SMTP_HOST=0.0.0.0
# Only the data folder and /tmp are written to; the rest may be read-only.
USER 10001:10001
WORKDIR /var/lib/postern
VOLUME /var/lib/postern
EXPOSE 8025
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s CMD ["postern", "health"]
# Running requests and work have POSTERN_DRAIN seconds to finish first.
STOPSIGNAL SIGTERM
ENTRYPOINT ["tini", "--", "postern"]
CMD ["serve"]
