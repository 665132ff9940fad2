#!/usr/bin/env sh
# The tests of @redline/nest on Nest 11, in a folder of their own: one node_modules does not hold two Nests.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/packages"
cp -r "$root/packages/nest" "$folder/packages/nest"
cp -r "$root/docs" "$folder/docs"
cd "$folder"
echo '{ "private": true, "type": "module" }' > package.json
npm install --no-audit --no-fund --loglevel=error --omit=dev @nestjs/common@11 @nestjs/core@11 \
  @nestjs/platform-express@11 @nestjs/platform-fastify@11 fastify@5 pino@10 ioredis@6 reflect-metadata@0.2 rxjs@7 \
  class-transformer@0.5 class-validator@0.15 nestjs-zod@5 zod@4 @nestjs/cache-manager@3 cache-manager@7 keyv@5 \
  nestjs-pino@5 pino-http@11 @nestjs/microservices@11 @nestjs/websockets@11 @nestjs/platform-ws@11 @nestjs/schedule@6 \
  @nestjs/bullmq@11 bullmq@5 ws@8 nats@2 @grpc/grpc-js@1 @grpc/proto-loader@0.8
mkdir node_modules/@redline
for name in defer response-cache; do ln -s "$root/packages/$name" "node_modules/@redline/$name"; done
# Through a link it would have a pino of its own, and a log is not known to another copy.
cp -r "$root/packages/http" node_modules/@redline/http
ln -s "$root/scripts/services" node_modules/@redline/services
node --test "packages/nest/dist-test/**/*.test.js"
