package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
)

// call returns status and body of an answer.
func call(method, path string, body []byte) (int, []byte) {
	request, err := http.NewRequest(method, os.Getenv("API_URL")+path, bytes.NewReader(body))
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
	return response.StatusCode, answer
}

func main() {
	from, to := os.Getenv("FROM"), os.Getenv("TO")
	query := url.Values{"fromCurrency": {from}, "toCurrency": {to}, "fromAmount": {os.Getenv("AMOUNT")}}
	status, answer := call("GET", "/api/v1/conversions/quote?"+query.Encode(), nil)
	if status != http.StatusOK {
		log.Fatal(status, " ", string(answer))
	}
	var quote struct {
		FromAmountStr, ToAmountStr string
		ExchangeRate               json.Number // as it came: a float would round it
	}
	if err := json.Unmarshal(answer, &quote); err != nil {
		log.Fatal(err)
	}
	// The figures that the user has accepted: with worse ones nothing is executed.
	body, _ := json.Marshal(map[string]any{
		"fromCurrency": from, "toCurrency": to, "fromAmount": quote.FromAmountStr,
		"quotedRate": quote.ExchangeRate, "quotedToAmount": quote.ToAmountStr,
		"idempotencyKey": os.Getenv("CONVERSION_REFERENCE"),
	})
	status, answer = call("POST", "/api/v1/conversions", body)
	if status != http.StatusCreated {
		log.Fatal(status, " ", string(answer)) // RATE_DRIFT has `newQuote`: show it to the user, and ask again
	}
	fmt.Println(string(answer))
}
