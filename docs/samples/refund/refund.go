package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
)

// post returns the body of the answer, and ends the program where it is a refusal.
func post(url, key, body string) string {
	request, err := http.NewRequest("POST", url, strings.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("API_KEY"))
	request.Header.Set("Content-Type", "application/json")
	if key != "" {
		request.Header.Set("Idempotency-Key", key)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		log.Fatal(err)
	}
	if response.StatusCode >= 300 {
		log.Fatal(response.Status, " ", string(answer))
	}
	return string(answer)
}

func main() {
	refunds := os.Getenv("API_URL") + "/api/v1/payments/" + os.Getenv("PAYMENT_ID") + "/refunds"
	reference := os.Getenv("REFUND_REFERENCE")
	// What would it take and cost? Nothing happens yet.
	fmt.Println(post(refunds+"/preview", "", `{"type": "full"}`))
	// Without an address the refund has `claimUrl`: send this link to the payer, who names the address there.
	fmt.Println(post(refunds, reference, fmt.Sprintf(`{"type": "full", "reference": %q}`, reference)))
}
