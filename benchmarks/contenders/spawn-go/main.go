// The article's server in Go: one process for each request. WORKLOAD=echo or cat, TEXT_FILE for cat.
package main

import (
	"io"
	"log"
	"net/http"
	"os"
	"os/exec"
	"strconv"
)

// Held so that the process is as large as the others under RESIDENT_MIB.
var resident [][]byte

func main() {
	program, args := "echo", []string{"hi"}
	if os.Getenv("WORKLOAD") == "cat" {
		program, args = "cat", []string{os.Getenv("TEXT_FILE")}
	}
	mebibytes, _ := strconv.Atoi(os.Getenv("RESIDENT_MIB"))
	for i := 0; i < mebibytes; i++ {
		block := make([]byte, 1<<20)
		for at := range block {
			block[at] = 1
		}
		resident = append(resident, block)
	}
	http.HandleFunc("/", func(response http.ResponseWriter, _ *http.Request) {
		command := exec.Command(program, args...)
		stdout, err := command.StdoutPipe()
		if err == nil {
			err = command.Start()
		}
		if err != nil {
			http.Error(response, err.Error(), http.StatusInternalServerError)
			return
		}
		if _, err := io.Copy(response, stdout); err != nil {
			log.Print(err)
		}
		_ = command.Wait()
	})
	log.Fatal(http.ListenAndServe(os.Getenv("HOST")+":"+os.Getenv("PORT"), nil))
}
