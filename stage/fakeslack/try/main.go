// Command try starts the Slack stand-in with the messages of golden files, prints
// the address of its page and runs until it is interrupted.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/slack-go/slack"

	"rollcall/stage/fakeslack"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "try:", err)
		os.Exit(1)
	}
}

const usage = `usage: try FILE.golden.json …

Starts the Slack stand-in with the messages of golden files, prints the address
of its page and runs until it is interrupted.
`

const channelID = "C0ALERTS01"

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) == 1 && (args[0] == "--help" || args[0] == "-h") {
		fmt.Fprint(out, usage)
		return nil
	}
	if len(args) == 0 {
		return fmt.Errorf("no files\n%s", usage)
	}
	kept, err := readKept(args)
	if err != nil {
		return fmt.Errorf("%w\n%s", err, usage)
	}
	// The messages are of one afternoon.
	clock := &stageClock{at: time.Date(2026, 11, 20, 14, 59, 31, 0, time.UTC)}
	s, err := fakeslack.New(fakeslack.Config{
		Token: "xoxb-stage", SigningSecret: "stage", Workspace: "Acme Platform", Now: clock.now,
		Channels: []fakeslack.Channel{{ID: channelID, Name: "node-alerts", Topic: "Nodes that did not answer roll call"}},
		Users:    []fakeslack.User{{ID: "U0ONCALL01", Name: "oncall"}},
		Groups:   []fakeslack.Group{{ID: "S0ONCALL01", Handle: "platform-oncall", Users: []string{"U0ONCALL01"}}},
	})
	if err != nil {
		return err
	}
	defer s.Close()
	s.SetBanner("Golden messages")
	if err := postKept(ctx, s, clock, kept); err != nil {
		return err
	}
	fmt.Fprintln(out, s.URL())
	<-ctx.Done()
	return nil
}

// stageClock stands until it is set.
type stageClock struct{ at time.Time }

func (c *stageClock) now() time.Time { return c.at }

func (c *stageClock) pass(d time.Duration) { c.at = c.at.Add(d) }

// kept is a message of a golden file: the first is the channel's, the others are
// its replies.
type kept struct {
	Text   string
	Blocks slack.Blocks
}

// readKept reads golden files, of shared/slack or of stage.
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
			opts := []slack.MsgOption{slack.MsgOptionText(m.Text, false), slack.MsgOptionBlocks(m.Blocks.BlockSet...)}
			if thread != "" {
				opts = append(opts, slack.MsgOptionTS(thread))
			}
			_, ts, err := api.PostMessageContext(ctx, channelID, opts...)
			if err != nil {
				return fmt.Errorf("post %q: %w", m.Text, err)
			}
			if thread == "" {
				thread = ts
			}
		}
	}
	return nil
}
