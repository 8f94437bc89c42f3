// Command try starts the Slack stand-in with example messages, prints the
// address of its page and runs until it is interrupted.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"rollcall/local/fakeslack"

	"github.com/slack-go/slack"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "try:", err)
		os.Exit(1)
	}
}

const usage = `usage: try [FILE.golden.json …]

Starts the Slack stand-in with the messages of golden files, or with examples,
prints the address of its page and runs until it is interrupted.
`

const channelID = "C0ALERTS01"

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) == 1 && (args[0] == "--help" || args[0] == "-h") {
		fmt.Fprint(out, usage)
		return nil
	}
	kept, err := readKept(args)
	if err != nil {
		return fmt.Errorf("%w\n%s", err, usage)
	}
	// The examples play on one afternoon.
	clock := &stageClock{at: time.Date(2026, 11, 20, 14, 59, 31, 0, time.UTC)}
	s, err := fakeslack.New(fakeslack.Config{
		Token: "xoxb-stage", SigningSecret: "stage", Workspace: "Acme Platform", Now: clock.now,
		Channels: []fakeslack.Channel{
			{ID: channelID, Name: "node-alerts", Topic: "Nodes that did not answer roll call"},
			{ID: "C0PLATFRM1", Name: "platform"},
			{ID: "C0INCIDNT1", Name: "incidents", Private: true},
		},
		Users:  []fakeslack.User{{ID: "U0ONCALL01", Name: "oncall"}, {ID: "U0DANA0001", Name: "Dana Weber"}},
		Groups: []fakeslack.Group{{ID: "S0ONCALL01", Handle: "platform-oncall", Users: []string{"U0ONCALL01"}}},
	})
	if err != nil {
		return err
	}
	defer s.Close()
	if len(kept) > 0 {
		s.SetBanner("Golden messages")
		err = postKept(ctx, s, clock, kept)
	} else {
		s.SetBanner("Story: route · a nodegroup in a subnet with no route to the internet")
		err = post(ctx, s, clock)
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(out, s.URL())
	<-ctx.Done()
	return nil
}

// stageClock moves only when it is told to.
type stageClock struct{ at time.Time }

func (c *stageClock) now() time.Time { return c.at }

func (c *stageClock) pass(d time.Duration) { c.at = c.at.Add(d) }

// post writes the example messages.
func post(ctx context.Context, s *fakeslack.Server, clock *stageClock) error {
	api := slack.New("xoxb-stage", slack.OptionAPIURL(s.APIURL()))
	clock.pass(-26 * time.Minute)
	old, err := send(ctx, api, example{text: "prod / ingest: nodes cannot join", blocks: brokenBlocks("prod / ingest · 3 instances cannot join: subnet-0c11 has no route to the internet", "rtb-0c12")})
	if err != nil {
		return err
	}
	clock.pass(14 * time.Minute)
	if err := update(ctx, api, old, "joined again", resolvedBlocks()); err != nil {
		return err
	}
	clock.pass(12 * time.Minute)
	ts, err := send(ctx, api, example{text: "prod / workers: nodes cannot join", blocks: brokenBlocks("prod / workers · 12 instances cannot join: subnet-0ab1 has no route to the internet", "rtb-0cd2")})
	if err != nil {
		return err
	}
	for _, e := range thread() {
		clock.pass(time.Second)
		e.thread = ts
		if _, err := send(ctx, api, e); err != nil {
			return err
		}
	}
	clock.pass(40 * time.Second)
	if _, err := s.Say(channelID, "U0DANA0001", "looking, <!subteam^S0ONCALL01> please do not scale it up again", ts); err != nil {
		return err
	}
	if _, err := s.Say(channelID, "U0DANA0001", "who created `rtb-0cd2`? that was *ci-deploy*, see <https://example.com/run/1841|run 1841> :eyes:", ""); err != nil {
		return err
	}
	if _, err := api.PostEphemeralContext(ctx, channelID, "U0ONCALL01", slack.MsgOptionText(":lock: You are not on the list of people who may approve a fix. Ask <!subteam^S0ONCALL01>.", false)); err != nil {
		return fmt.Errorf("post ephemeral: %w", err)
	}
	return nil
}
