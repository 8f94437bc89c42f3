// Command try starts the Slack stand-in with example messages, prints the
// address of its page and runs until it is interrupted.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
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

// example is a message to post.
type example struct {
	text, thread string
	blocks       []slack.Block
	file         []byte
}

func mrkdwn(text string) *slack.TextBlockObject {
	return slack.NewTextBlockObject(slack.MarkdownType, text, false, false)
}

func plain(text string) *slack.TextBlockObject {
	return slack.NewTextBlockObject(slack.PlainTextType, text, true, false)
}

func section(text string) slack.Block { return slack.NewSectionBlock(mrkdwn(text), nil, nil) }

// brokenBlocks is an incident, with what a person can do about it.
func brokenBlocks(title, table string) []slack.Block {
	approve := slack.NewButtonBlockElement("approve", "plan-1", plain("Approve this fix")).WithStyle(slack.StylePrimary)
	approve.Confirm = slack.NewConfirmationBlockObject(plain("Add the route?"),
		mrkdwn("Adds `0.0.0.0/0 → nat-0aa4` to "+table+" and replaces 12 instances, one at a time."), plain("Add the route"), plain("Cancel"))
	console := slack.NewButtonBlockElement("console", "", plain("Open in console"))
	console.URL = "https://us-west-2.console.aws.amazon.com/vpcconsole/home?region=us-west-2#RouteTableDetails:RouteTableId=" + table
	mute := slack.NewOptionsSelectBlockElement(slack.OptTypeStatic, plain("Mute"), "mute",
		slack.NewOptionBlockObject("1h", plain("for 1 hour"), nil), slack.NewOptionBlockObject("24h", plain("for 24 hours"), nil))
	return []slack.Block{
		slack.NewHeaderBlock(plain("🔴 " + title)),
		section("*Why*  <https://console.aws.amazon.com/vpc|" + table + "> (us-west-2a) has only `10.42.0.0/16 → local`. Nodes must reach the cluster API, EC2, ECR, S3 and STS; this VPC has no endpoints for them."),
		section("*Since*  <!date^1795186771^{time}|14:59 UTC>, first <https://console.aws.amazon.com/ec2|i-0ef3>. " + table + " was created <!date^1795185660^{time}|14:41 UTC> by ci-deploy."),
		section("*Do*\n```aws ec2 create-route --route-table-id " + table + " --destination-cidr-block 0.0.0.0/0 --nat-gateway-id nat-0aa4```\nnat-0aa4: available, same zone"),
		slack.NewActionBlock("actions", approve, mute, slack.NewButtonBlockElement("check", "", plain("Check again")), console),
		slack.NewContextBlock("", mrkdwn("`route/no-egress` · certain · eks-workshop · account 111122223333 · us-west-2")),
	}
}

// resolvedBlocks is the same incident afterwards.
func resolvedBlocks() []slack.Block {
	return []slack.Block{
		section("✅ *prod / ingest* · joined again after 14 min: rtb-0c12 has `0.0.0.0/0 → nat-0aa4` (approved by <@U0ONCALL01>); i-0f15 Ready 58 s after launch"),
		slack.NewContextBlock("", mrkdwn("`route/no-egress` · opened <!date^1795185211^{time}|14:33 UTC>, closed <!date^1795186051^{time}|14:47 UTC>")),
	}
}

// thread is the evidence.
func thread() []example {
	return []example{
		{text: "path", blocks: []slack.Block{section("*The path, hop by hop*\n```" +
			"i-0ef3            eni-0a1  10.42.200.17   subnet-0ab1  us-west-2a\n" +
			"  security group  sg-0d4   out: all       ok\n" +
			"  network ACL     acl-07   out: allow     ok\n" +
			"  route table     rtb-0cd2 10.42.0.0/16 -> local\n" +
			"                           0.0.0.0/0     -> no route   STOPS HERE```")}},
		{text: "instances", blocks: []slack.Block{
			slack.NewSectionBlock(mrkdwn("*12 instances*, launched within 4 s"), []*slack.TextBlockObject{
				mrkdwn("*Group*\neks-new_nodegroup_2-3ac1"), mrkdwn("*Type*\nm5.large, ON_DEMAND"),
				mrkdwn("*Activity*\n`Successful`"), mrkdwn("*Nodegroup*\n`ACTIVE`, no health issue"),
			}, nil),
			slack.NewContextBlock("", mrkdwn(":information_source: Looked at 9 sources in 14 calls. Nothing was denied.")),
		}},
		{text: "Launches in the last hour, by outcome", file: chart()},
	}
}

// chart draws bars, so that a picture is in the thread.
func chart() []byte {
	img := image.NewRGBA(image.Rect(0, 0, 420, 150))
	for y := range 150 {
		for x := range 420 {
			img.Set(x, y, color.RGBA{250, 250, 250, 255})
			bar, in := (x-20)/40, (x-20)%40
			height := []int{30, 34, 28, 36, 30, 90, 118, 110, 32}
			if x >= 20 && in < 28 && bar < len(height) && y > 140-height[bar] && y < 140 {
				c := color.RGBA{58, 166, 85, 255}
				if bar >= 5 && bar <= 7 {
					c = color.RGBA{221, 46, 68, 255}
				}
				img.Set(x, y, c)
			}
		}
	}
	var b bytes.Buffer
	// Writing into memory does not fail.
	_ = png.Encode(&b, img)
	return b.Bytes()
}

func send(ctx context.Context, api *slack.Client, e example) (string, error) {
	if e.file != nil {
		_, err := api.UploadFileContext(ctx, slack.UploadFileParameters{
			Reader: bytes.NewReader(e.file), FileSize: len(e.file), Filename: "launches.png", Title: e.text,
			AltTxt: "bar chart of launches", Channel: channelID, ThreadTimestamp: e.thread,
		})
		if err != nil {
			return "", fmt.Errorf("upload chart: %w", err)
		}
		return "", nil
	}
	opts := []slack.MsgOption{slack.MsgOptionText(e.text, false), slack.MsgOptionBlocks(e.blocks...)}
	if e.thread != "" {
		opts = append(opts, slack.MsgOptionTS(e.thread))
	}
	_, ts, err := api.PostMessageContext(ctx, channelID, opts...)
	if err != nil {
		return "", fmt.Errorf("post %q: %w", e.text, err)
	}
	return ts, nil
}

func update(ctx context.Context, api *slack.Client, ts, text string, blocks []slack.Block) error {
	_, _, _, err := api.UpdateMessageContext(ctx, channelID, ts, slack.MsgOptionText(text, false), slack.MsgOptionBlocks(blocks...))
	if err != nil {
		return fmt.Errorf("update %s: %w", ts, err)
	}
	return nil
}

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
