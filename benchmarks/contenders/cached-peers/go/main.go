// Products out of Redis in Go, each with its log line: `cached-go go-redis` asks Redis every time, `cached-go rueidis` has a
// copy in its own memory that Redis invalidates.
package main

import (
	"bufio"
	"context"
	"errors"
	"log"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
)

const (
	jsonType   = "application/json; charset=utf-8"
	batchBytes = 64 * 1024
	freshFor   = time.Hour
)

// lines are written 64 KiB at a time, and at least every second.
type lines struct {
	sync.Mutex
	to *bufio.Writer
}

func (l *lines) Write(line []byte) (int, error) {
	l.Lock()
	defer l.Unlock()
	return l.to.Write(line)
}

func (l *lines) flushEverySecond() {
	for range time.Tick(time.Second) {
		l.Lock()
		_ = l.to.Flush()
		l.Unlock()
	}
}

type read func(ctx context.Context, key string) ([]byte, error)

var errMissing = errors.New("no such product")

func main() {
	get, err := reader(os.Args[1], strings.TrimPrefix(os.Getenv("REDIS_URL"), "redis://"))
	if err != nil {
		log.Fatal(err)
	}
	file, err := os.OpenFile(os.Getenv("LOG"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		log.Fatal(err)
	}
	written := &lines{to: bufio.NewWriterSize(file, batchBytes)}
	go written.flushEverySecond()
	logger := slog.New(slog.NewJSONHandler(written, nil))

	http.HandleFunc("GET /products/{id}", func(response http.ResponseWriter, request *http.Request) {
		start := time.Now()
		status := http.StatusOK
		json, err := get(request.Context(), "product:"+request.PathValue("id"))
		if errors.Is(err, errMissing) {
			status = http.StatusNotFound
		} else if err != nil {
			status = http.StatusBadGateway
		}
		response.Header().Set("Content-Type", jsonType)
		response.WriteHeader(status)
		_, _ = response.Write(json)
		logger.LogAttrs(request.Context(), slog.LevelInfo, "request completed",
			slog.String("reqId", request.Header.Get("X-Request-Id")),
			slog.String("method", request.Method),
			slog.String("url", request.URL.Path),
			slog.Int("statusCode", status),
			slog.Float64("responseTime", float64(time.Since(start).Microseconds())/1_000))
	})
	log.Fatal(http.ListenAndServe(os.Getenv("HOST")+":"+os.Getenv("PORT"), nil))
}

func reader(client, address string) (read, error) {
	if client == "go-redis" {
		connected := redis.NewClient(&redis.Options{Addr: address})
		return func(ctx context.Context, key string) ([]byte, error) {
			json, err := connected.Get(ctx, key).Bytes()
			if errors.Is(err, redis.Nil) {
				return nil, errMissing
			}
			return json, err
		}, nil
	}
	connected, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{address}})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, key string) ([]byte, error) {
		json, err := connected.DoCache(ctx, connected.B().Get().Key(key).Cache(), freshFor).AsBytes()
		if rueidis.IsRedisNil(err) {
			return nil, errMissing
		}
		return json, err
	}, nil
}
