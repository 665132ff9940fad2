// The answers of http-work.js in Go: net/http, encoding/json.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"syscall"
)

const (
	chunks     = 16
	chunkBytes = 64 * 1024
	jsonType   = "application/json; charset=utf-8"
	workMicros = 5_000
	ofThread   = 1
)

type order struct {
	Lines []struct {
		Cents int `json:"cents"`
		Count int `json:"count"`
	} `json:"lines"`
}

// work takes 5 ms of CPU: by the clock on the wall, two goroutines could spend the same 5 ms on one core.
func work() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for end := threadMicros() + workMicros; threadMicros() < end; {
	}
}

func threadMicros() int64 {
	var used syscall.Rusage
	_ = syscall.Getrusage(ofThread, &used)
	return used.Utime.Nano()/1_000 + used.Stime.Nano()/1_000
}

func main() {
	product := []byte(os.Getenv("PRODUCT"))
	length := strconv.Itoa(len(product))
	chunk := bytes.Repeat([]byte("redline "), chunkBytes/8)

	http.HandleFunc("GET /{$}", func(response http.ResponseWriter, _ *http.Request) {
		response.Header().Set("Content-Type", jsonType)
		response.Header().Set("Content-Length", length)
		_, _ = response.Write(product)
	})
	http.HandleFunc("GET /busy", func(response http.ResponseWriter, _ *http.Request) {
		work()
		response.Header().Set("Content-Type", jsonType)
		response.Header().Set("Content-Length", length)
		_, _ = response.Write(product)
	})
	http.HandleFunc("POST /order", func(response http.ResponseWriter, request *http.Request) {
		var given order
		if err := json.NewDecoder(request.Body).Decode(&given); err != nil {
			http.Error(response, err.Error(), http.StatusBadRequest)
			return
		}
		cents := 0
		for _, line := range given.Lines {
			cents += line.Cents * line.Count
		}
		response.Header().Set("Content-Type", jsonType)
		fmt.Fprintf(response, `{"lines":%d,"cents":%d}`, len(given.Lines), cents)
	})
	http.HandleFunc("GET /stream", func(response http.ResponseWriter, _ *http.Request) {
		response.Header().Set("Content-Type", "application/octet-stream")
		for range [chunks]struct{}{} {
			if _, err := response.Write(chunk); err != nil {
				return
			}
		}
	})
	log.Fatal(http.ListenAndServe(os.Getenv("HOST")+":"+os.Getenv("PORT"), nil))
}
