package target

import (
	"fmt"
	"strings"
	"testing"

	"rollcall/tools/expect"
)

func TestParse(t *testing.T) {
	const topic = "arn:aws:sns:us-west-2:111122223333:oncall"
	for text, want := range map[string][]Target{
		"none":                               nil,
		"sns":                                {{Kind: SNS}},
		"amazonq=" + topic:                   {{Kind: AmazonQ, Topic: topic}},
		"jsm/warning=rollcall/jsm":           {{Kind: JSM, Secret: "rollcall/jsm", Least: "warning"}},
		"sns/critical=" + topic:              {{Kind: SNS, Topic: topic, Least: "critical"}},
		"pagerduty/critical=rollcall/pd":     {{Kind: PagerDuty, Secret: "rollcall/pd", Least: "critical"}},
		"teams=a=b, webhook/warning=hook.v2": {{Kind: Teams, Secret: "a=b"}, {Kind: Webhook, Secret: "hook.v2", Least: "warning"}},
		"teams/info=a":                       {{Kind: Teams, Secret: "a", Least: "info"}},
		"pagerduty=a,pagerduty=b":            {{Kind: PagerDuty, Secret: "a"}, {Kind: PagerDuty, Secret: "b"}},
	} {
		got, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		expect.Same(t, fmt.Sprint(text), got, want)
	}
}

func TestParseRefuses(t *testing.T) {
	const key = "e93facc04764012d7bfb002500d5d1a6"
	for text, want := range map[string]string{
		"":                                     "empty target",
		"sns,":                                 "empty target",
		"slack=x":                              "starts with none of",
		"Sns":                                  "starts with none of",
		"sns=oncall":                           "the ARN of a topic",
		"sns=":                                 "the ARN of a topic",
		"amazonq":                              "the ARN of the topic",
		"amazonq=oncall":                       "the ARN of the topic",
		"jsm=https://api.atlassian.com":        "not an address",
		"teams":                                "the name of a secret",
		"teams=":                               "letters, digits",
		"teams=a b":                            "letters, digits",
		"teams=https://prod.example.com/sig=x": "not an address",
		"teams=arn:aws:secretsmanager:x":       "key or ARN",
		"pagerduty=" + key:                     "looks like the routing key",
		"pagerduty=rollcall-abc123":            "six characters",
		"pagerduty/urgent=a":                   "warning or critical",
		"pagerduty/=a":                         "warning or critical",
		"teams=a,teams/critical=a":             "is listed twice",
		"teams=a" + strings.Repeat(",sns=arn:aws:sns:r:111122223333:t", 2):                        "is listed twice",
		"teams=a,teams=b,teams=c,teams=d,teams=e,teams=f,teams=g,teams=h,teams=i,teams=j,teams=k": "more than the allowed 10",
	} {
		if got, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, %v; want %q", text, got, err, want)
		}
	}
	// What may be a secret is in no error, which ends in logs.
	for _, text := range []string{"pagerduty=" + key, "teams=https://x.logic.azure.com/?sig=" + key} {
		if _, err := Parse(text); err == nil || strings.Contains(err.Error(), key) {
			t.Errorf("the error quotes a secret: %v", err)
		}
	}
}

func TestName(t *testing.T) {
	for want, of := range map[string]Target{
		"sns":         {Kind: SNS, Least: "critical"},
		"sns=arn:a":   {Kind: SNS, Topic: "arn:a"},
		"teams=x":     {Kind: Teams, Secret: "x"},
		"pagerduty=x": {Kind: PagerDuty, Secret: "x", Least: "warning"},
	} {
		expect.Equal(t, "got", of.Name(), want)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("pagerduty/critical=rollcall/pagerduty,teams=rollcall/teams,sns")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := Parse(text)
		if err == nil && text != None && len(list) == 0 {
			t.Errorf("%q is no target, and no error", text)
		}
	})
}
