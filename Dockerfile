# The gateway: docker build -t segue . && docker run -p 127.0.0.1:4000:4000 -v ./segue.toml:/etc/segue/segue.toml:ro segue
FROM python:3.13-slim

WORKDIR /opt/segue
COPY pyproject.toml README.md LICENSE ./
COPY requirements/run.txt requirements/run.txt
COPY src src
RUN pip install --no-cache-dir --constraint requirements/run.txt ".[gateway,postgres,bedrock,vertex]" \
    && useradd --create-home --uid 10001 segue \
    && install --directory --owner segue /var/lib/segue

USER 10001
# What the gateway remembers without another --store is in the volume.
ENV XDG_DATA_HOME=/var/lib
VOLUME /var/lib/segue
EXPOSE 4000
HEALTHCHECK CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:4000/health/live')"]
ENTRYPOINT ["segue"]
# An address that others can reach needs a key of its own: see docs/gateway.md.
CMD ["gateway", "--config", "/etc/segue/segue.toml", "--host", "0.0.0.0"]
