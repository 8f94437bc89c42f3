package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/stage/simaws"
	"rollcall/stage/simaws/world"
	"rollcall/stage/simaws/worldfile"
	"rollcall/tools/expect"
)

func TestBound(t *testing.T) {
	for n, want := range map[int]time.Duration{50: 0, 100: 0, 105: time.Second, 10_000: 33 * time.Minute} {
		expect.Equal(t, fmt.Sprintf("%d deletes", n), bound(n), want)
	}
}

// The added interfaces are as the CNI leaves them, each with an address.
func TestFill(t *testing.T) {
	f, err := worldfile.Load("../../../" + worldFile)
	expect.OK(t, err)
	fill(2_000, 500)(f)
	w, err := world.New(f, world.Options{Seed: 1})
	expect.OK(t, err)
	count := func(status, description string) (n int) {
		in := &ec2.DescribeNetworkInterfacesInput{MaxResults: aws.Int32(1000), Filters: []types.Filter{
			{Name: aws.String("status"), Values: []string{status}}, {Name: aws.String("description"), Values: []string{description}},
		}}
		for {
			out, err := w.EC2().DescribeNetworkInterfaces(in)
			expect.OK(t, err)
			n += len(out.NetworkInterfaces)
			if in.NextToken = out.NextToken; in.NextToken == nil {
				return n
			}
		}
	}
	if got := count("available", "aws-K8S-i-*"); got != 2_000 {
		t.Errorf("%d are left behind, want 2000", got)
	}
	if got := count("in-use", "load balancer"); got != 500 {
		t.Errorf("%d are in use, want 500", got)
	}
}

// The script's time is its calls': slow, it leaves most of the bucket unused;
// fast, it is throttled and gives up on some.
func TestScriptInVirtualTime(t *testing.T) {
	t.Chdir("../../..")
	o := options{interfaces: 2_000}
	slow, err := byScript(t.Context(), o, 300*time.Millisecond)
	expect.OK(t, err)
	if slow.deleted != 2_000 || slow.throttled != 0 || slow.failed != 0 || slow.took != 600*time.Second {
		t.Errorf("slow: %+v, want 2000 deleted in ten minutes", slow)
	}
	fast, err := byScript(t.Context(), o, 50*time.Millisecond)
	expect.OK(t, err)
	if fast.throttled == 0 || fast.deleted+fast.failed != 2_000 || fast.took < bound(fast.deleted) {
		t.Errorf("fast: %+v, want some throttled, and no faster than the bucket", fast)
	}
}

func TestPage(t *testing.T) {
	ours := result{name: "Rollcall's eni-cleanup", interfaces: 10_000, deleted: 10_000, took: 34 * time.Minute, deletes: 10_000, calls: 10_060, runs: 3, memory: 40,
		worked: time.Hour, by: map[string]int{"ec2:DeleteNetworkInterface": 10_000, "sqs:SendMessage": 4}}
	ours.bill = usesOf(ours, map[string]simaws.Used{"PutItem": {Calls: 30_000, Units: 30_000}, "Query": {Calls: 9, Units: 500}}, 0.5, 1_000_000)
	p := page{options: options{interfaces: 10_000, latency: 300 * time.Millisecond, rate: 6},
		ours:   ours,
		script: []result{{name: "the story's script", interfaces: 10_000, deleted: 10_000, took: 50 * time.Minute, deletes: 10_000, calls: 10_010, runs: 1}},
		looks:  []look{{held: 100_000, result: result{name: "subnet-watch", calls: 300, runs: 1, memory: 60}}}}
	text := p.text()
	for _, want := range []string{
		"33 min 00 s at the least", "runs 6 times as fast",
		"| Rollcall's eni-cleanup | 10000 of 10000 | 34 min 00 s | +3.0 % |", "| the story's script | 10000 of 10000 | 50 min 00 s | +51.5 % |",
		"| ec2:DeleteNetworkInterface | 10000 |", "| DynamoDB write units | 30000 | 0.0188 |", "| Lambda GB-seconds | 1800 | 0.0240 |", "$0.053",
		"| 100000 | subnet-watch | 1 | 300 | 0 | 60 MB |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q:\n%s", want, text)
		}
	}
}
