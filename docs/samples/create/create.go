package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
)

func main() {
	order := os.Getenv("ORDER_ID")
	body, _ := json.Marshal(map[string]any{"amount": 25, "currency": "BTC", "merchantOrderId": order})
	request, err := http.NewRequest("POST", os.Getenv("API_URL")+"/api/v1/payments", bytes.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("API_KEY"))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", order)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	payment, err := io.ReadAll(response.Body)
	if err != nil {
		log.Fatal(err)
	}
	if response.StatusCode != http.StatusCreated {
		log.Fatal(response.Status, " ", string(payment))
	}
	fmt.Println(string(payment))
}
