package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
)

// The fields of a withdrawal, of a mass payout and of one of its rows that are read here.
type row struct {
	ID                                     string `json:"_id"`
	Status, Currency, TxID, Label, Address string
	RowIndex                               int
	Amount                                 json.Number // as it came: a float would round it
}

// all returns every row of a list, page by page.
func all(path string) (rows []row) {
	for page := 1; ; page++ {
		url := fmt.Sprintf("%s/api/v1/%s?page=%d&limit=100", os.Getenv("API_URL"), path, page)
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
			Data struct {
				Items []row
				Total int
			}
		}
		if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
			log.Fatal(err)
		}
		rows = append(rows, answer.Data.Items...)
		if len(answer.Data.Items) == 0 || page*100 >= answer.Data.Total {
			return rows
		}
	}
}

func main() {
	for _, one := range all("withdrawals") {
		fmt.Println("withdrawal", one.ID, one.Status, one.Amount, one.Currency, one.TxID)
	}
	for _, batch := range all("mass-payouts") {
		fmt.Println("mass payout", batch.ID, batch.Status, batch.Label)
		for _, leg := range all("mass-payouts/" + batch.ID + "/legs") {
			fmt.Println("  row", leg.RowIndex, leg.Status, leg.Amount, leg.Currency, leg.Address)
		}
	}
}
