// Takes webhooks at /webhooks. A shop keeps what is in seen, newest and delivered in its database.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

var (
	lock      sync.Mutex
	seen      = map[string]bool{}
	newest    = map[string]int{}
	delivered = map[string]bool{}
	paid      = map[string]bool{"CONFIRMED": true, "SWEEP_QUEUED": true, "SETTLED": true}
)

type event struct {
	ID, Type string
	Data     json.RawMessage
}

type payment struct {
	ID                                       string `json:"_id"`
	StateVersion                             int
	Status, MerchantOrderID, ParentPaymentID string
}

// verify returns an error unless the body, as it came, was signed with the secret in the last five minutes.
func verify(body []byte, headers http.Header, secret string) error {
	seconds, err := strconv.ParseInt(headers.Get("webhook-timestamp"), 10, 64)
	if err != nil {
		return err
	}
	if age := time.Since(time.Unix(seconds, 0)); age > 5*time.Minute || age < -5*time.Minute {
		return errors.New("too old, or from ahead")
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return err
	}
	if len(key) < 24 {
		return errors.New("WEBHOOK_SECRET is missing, or no secret")
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%d.", headers.Get("webhook-id"), seconds)
	mac.Write(body)
	expected := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for _, signature := range strings.Split(headers.Get("webhook-signature"), " ") {
		if hmac.Equal([]byte(signature), []byte(expected)) {
			return nil
		}
	}
	return errors.New("no signature fits")
}

func take(body []byte) error {
	lock.Lock()
	defer lock.Unlock()
	var e event
	if err := json.Unmarshal(body, &e); err != nil {
		return err
	}
	if seen[e.ID] {
		return nil // a repeat
	}
	seen[e.ID] = true
	if !strings.HasPrefix(e.Type, "payment.") {
		return nil
	}
	var p payment
	if err := json.Unmarshal(e.Data, &p); err != nil {
		return err
	}
	if p.StateVersion < newest[p.ID] {
		return nil // overtaken by a later change
	}
	newest[p.ID] = p.StateVersion
	if p.ParentPaymentID != "" {
		return nil // a late or second deposit, of any amount: it pays no order by itself
	}
	fmt.Println(p.MerchantOrderID, "is", p.Status)
	if paid[p.Status] && !delivered[p.MerchantOrderID] {
		delivered[p.MerchantOrderID] = true
		fmt.Println("paid", p.MerchantOrderID)
	}
	return nil
}

func main() {
	http.HandleFunc("/webhooks", func(response http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		if err == nil {
			err = verify(body, request.Header, os.Getenv("WEBHOOK_SECRET"))
		}
		if err == nil {
			err = take(body)
		}
		if err != nil {
			log.Println(err)
			response.WriteHeader(http.StatusBadRequest)
			return
		}
		response.WriteHeader(http.StatusNoContent)
	})
	listener, err := net.Listen("tcp", ":"+os.Getenv("PORT"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening on", os.Getenv("PORT"))
	log.Fatal(http.Serve(listener, nil))
}
