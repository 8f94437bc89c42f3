package main

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"

	"github.com/slack-go/slack"
)

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
