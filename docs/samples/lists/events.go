package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
)

type page struct {
	Items []struct {
		Seq  int64
		Type string
	}
	HasMore    bool
	NextCursor string
}

// eventsAfter returns the next events behind a cursor.
func eventsAfter(cursor string) page {
	request, err := http.NewRequest("GET", os.Getenv("API_URL")+"/api/v1/events?limit=100&after="+cursor, nil)
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
	var answer struct{ Data page }
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		log.Fatal(err)
	}
	return answer.Data
}

func main() {
	after := "0" // keep it: the next time, go on from here
	for hasMore := true; hasMore; {
		events := eventsAfter(after)
		for _, event := range events.Items {
			fmt.Println(event.Seq, event.Type)
		}
		after, hasMore = events.NextCursor, events.HasMore
	}
}
