# docker build -t chameleon .
# docker build -t chameleon --build-arg EXTRAS=openai,papers,programs .
# docker run --rm -v "$PWD:/data:ro" chameleon ask "Which city had the most visitors?" --table visits.csv
FROM python:3.12-slim AS build
WORKDIR /src
COPY . .
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.12-slim
ARG EXTRAS=openai,anthropic,programs,corpus,web
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir "$(echo /wheels/*.whl)[${EXTRAS}]" \
    && useradd --create-home --uid 1000 chameleon
USER 1000
WORKDIR /data
ENTRYPOINT ["chameleon"]
CMD ["--help"]
