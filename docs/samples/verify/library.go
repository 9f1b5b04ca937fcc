// go get github.com/standard-webhooks/standard-webhooks/libraries
package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"os"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

func main() {
	body, err := io.ReadAll(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	secret := os.Getenv("WEBHOOK_SECRET")
	if len(secret) < 32 {
		log.Fatal("WEBHOOK_SECRET is missing, or no secret")
	}
	webhook, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		log.Fatal(err)
	}
	headers := http.Header{}
	headers.Set("webhook-id", os.Getenv("WEBHOOK_ID"))
	headers.Set("webhook-timestamp", os.Getenv("WEBHOOK_TIMESTAMP"))
	headers.Set("webhook-signature", os.Getenv("WEBHOOK_SIGNATURE"))
	if err := webhook.Verify(body, headers); err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(body))
}
