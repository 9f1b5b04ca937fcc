package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
)

// A refusal has one of three forms, and one id in each of them.
type refusal struct {
	status                   int
	code, message, requestID string
}

// refusalOf reads the refusal of a request; nil if it was no refusal.
func refusalOf(path string) *refusal {
	request, err := http.NewRequest("GET", os.Getenv("API_URL")+path, nil)
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("API_KEY"))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode < 400 {
		return nil
	}
	told := refusal{status: response.StatusCode, requestID: response.Header.Get("X-Request-Id")}
	var body struct {
		Error   json.RawMessage
		Message string
	}
	if err := json.NewDecoder(response.Body).Decode(&body); err != nil {
		log.Fatal(err)
	}
	var formA struct{ Code, Message string }
	var text string
	if json.Unmarshal(body.Error, &formA) == nil {
		told.code, told.message = formA.Code, formA.Message
	} else if err := json.Unmarshal(body.Error, &text); err != nil {
		log.Fatal(err)
	} else if body.Message != "" {
		told.code, told.message = text, body.Message // flat
	} else {
		told.message = text // form B has no code: the status decides
	}
	return &told
}

func main() {
	if told := refusalOf("/api/v1/payments/ffffffffffffffffffffffff"); told != nil && told.status == http.StatusNotFound {
		fmt.Println(told.message, told.requestID != "")
	}
	quote := "/api/v1/conversions/quote?fromCurrency=BTC&toCurrency=BTC&fromAmount=1"
	if told := refusalOf(quote); told != nil && told.code == "SAME_CURRENCY" {
		fmt.Println(told.code, told.status)
	}
}
