package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"rollcall/local/fakeslack"

	"github.com/slack-go/slack"
)

// kept is a message of a golden file: the first is the channel's, the others are
// its replies.
type kept struct {
	Text   string
	Blocks slack.Blocks
}

// readKept reads golden files, of shared/slack or of local/stage.
func readKept(files []string) ([][]kept, error) {
	var all [][]kept
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read the messages: %w", err)
		}
		var list []kept
		if err := json.Unmarshal(raw, &list); err != nil {
			return nil, fmt.Errorf("read the messages of %s: %w", file, err)
		}
		all = append(all, list)
	}
	return all, nil
}

// postKept posts each file's messages as one thread.
func postKept(ctx context.Context, s *fakeslack.Server, clock *stageClock, files [][]kept) error {
	api := slack.New("xoxb-stage", slack.OptionAPIURL(s.APIURL()))
	for _, messages := range files {
		thread := ""
		for _, m := range messages {
			clock.pass(time.Second)
			ts, err := send(ctx, api, example{text: m.Text, thread: thread, blocks: m.Blocks.BlockSet})
			if err != nil {
				return err
			}
			if thread == "" {
				thread = ts
			}
		}
	}
	return nil
}
