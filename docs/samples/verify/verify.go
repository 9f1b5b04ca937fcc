package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strconv"
	"strings"
	"time"
)

// verify returns an error unless the body, as it came, was signed with the secret in the last five minutes.
func verify(body []byte, id, timestamp, signatures, secret string) error {
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
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
	fmt.Fprintf(mac, "%s.%s.", id, timestamp)
	mac.Write(body)
	expected := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for _, signature := range strings.Split(signatures, " ") {
		if hmac.Equal([]byte(signature), []byte(expected)) {
			return nil
		}
	}
	return errors.New("no signature fits")
}

func main() {
	body, err := io.ReadAll(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	err = verify(body, os.Getenv("WEBHOOK_ID"), os.Getenv("WEBHOOK_TIMESTAMP"),
		os.Getenv("WEBHOOK_SIGNATURE"), os.Getenv("WEBHOOK_SECRET"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(body))
}
