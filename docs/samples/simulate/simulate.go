package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
)

func main() {
	url := os.Getenv("API_URL") + "/api/v1/test/payments/" + os.Getenv("PAYMENT_ID") + "/simulate"
	request, err := http.NewRequest("POST", url, strings.NewReader(`{"scenario": "paid"}`))
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("API_KEY"))
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		log.Fatal(err)
	}
	if response.StatusCode != http.StatusAccepted {
		log.Fatal(response.Status, " ", string(answer))
	}
	fmt.Println(string(answer))
}
