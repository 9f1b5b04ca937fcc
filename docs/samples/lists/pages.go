package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
)

// page returns the ids of one page of payments, and how many payments there are.
func page(number int) (ids []string, total int) {
	url := fmt.Sprintf("%s/api/v1/payments?page=%d&limit=100", os.Getenv("API_URL"), number)
	request, err := http.NewRequest("GET", url, nil)
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("API_KEY"))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		log.Fatal(response.Status)
	}
	var answer struct {
		Items []struct {
			ID string `json:"_id"`
		}
		Total int
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		log.Fatal(err)
	}
	for _, payment := range answer.Items {
		ids = append(ids, payment.ID)
	}
	return ids, answer.Total
}

func main() {
	seen := map[string]bool{}
	for number := 1; ; number++ {
		ids, total := page(number)
		for _, id := range ids {
			seen[id] = true // a new payment moves others to the next page
		}
		if len(ids) == 0 || number*100 >= total {
			break
		}
	}
	fmt.Println(len(seen), "payments")
}
