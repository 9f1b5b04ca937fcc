# One image; the command chooses the process (docker-compose.yml). Built with everything, run with what production needs.
FROM node:24.21.0-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY sandbox/setup ./sandbox/setup
# The packages of the lock, proved after the installation and again when the tools are gone.
RUN node sandbox/setup/packages.mjs
COPY . .
RUN node sandbox/launch.mjs build \
  && rm -rf dist/sandbox dist/tests dist/.built-from \
  && npm prune --omit=dev --no-save \
  && node sandbox/setup/packages.mjs --production

FROM node:24.21.0-bookworm-slim
ENV NODE_ENV=production
# Two arenas of the C library for all threads: each more of them keeps the most that it ever held.
ENV MALLOC_ARENA_MAX=2
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY --from=build /app/web/checkout/public ./web/checkout/public
COPY --from=build /app/web/embed/public ./web/embed/public
# The signer's volume: what it remembers of the database beside it.
RUN install -d -o node -g node -m 0700 /var/lib/signer
USER node
STOPSIGNAL SIGTERM
# Room for new objects of one size: a process takes as much memory at its first hour as at its hundredth.
ENTRYPOINT ["node", "--enable-source-maps", "--min-semi-space-size=16", "--max-semi-space-size=16"]
CMD ["dist/api/server.js"]
