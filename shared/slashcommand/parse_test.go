package slashcommand

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checkid"
	"rollcall/shared/report"
	"rollcall/shared/silence"
	"rollcall/shared/spoke"
)

var now = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func known(id checkid.ID) bool { return id == "route/no-egress" }

// TestWrong: what is not recognized is answered with what may be said.
func TestWrong(t *testing.T) {
	for text, want := range map[string]string{
		"staus":                                                             "Unknown command: /rollcall “staus”. Commands: help, status",
		"status prod":                                                       "takes no arguments, but got “prod”",
		"why":                                                               "Which instance?",
		"why i-123":                                                         "Which instance?",
		"why i-0abc1234def567890 now":                                       "Which instance?",
		"unsilence":                                                         "`/rollcall silences` lists them",
		"unsilence all":                                                     "`/rollcall silences` lists them",
		"report 30d":                                                        "`24h` or `7d`; not “30d”",
		"report cluster=a cluster=b":                                        "not “cluster=b”",
		"silence":                                                           "Which cluster?",
		"silence for 2h":                                                    "Which cluster?",
		"silence cluster=prod":                                              "For how long?",
		"silence prod for 2h":                                               "“prod” is not recognized",
		"silence cluster=prod for":                                          "A value is missing after “for”",
		"silence cluster= for 2h":                                           "A value is missing after “cluster=”",
		"silence cluster=prod for 2 hours":                                  "“2” is not a duration. Use 30m, 2h, 3d or 1w",
		"silence cluster=prod for 1m":                                       "at least 5 minutes",
		"silence cluster=prod for 31d reason x":                             "at most 30 days",
		"silence cluster=prod for 25h":                                      "needs a reason",
		`silence cluster=prod for 25h reason " "`:                           "needs a reason",
		"silence cluster=prod for 2h for 3h":                                "“for” is given twice",
		"silence cluster=prod cluster=dev for 2h":                           "“cluster” is given twice",
		"silence cluster=pr!od for 2h":                                      "is not a cluster name",
		"silence cluster=2222/eu/prod for 2h":                               "is not a cluster name",
		"silence cluster=prod nodegroup=a/b for 2h":                         "is not a nodegroup name",
		"silence cluster=prod tag=team for 2h":                              "`tag=team=payments`",
		"silence cluster=prod tag=a=b nodegroup=c for 2h":                   "not both",
		"silence cluster=prod check=route/none for 2h":                      "Unknown check: “route/none”",
		"silence cluster=prod severity=info for 2h":                         "“severity=” is not recognized",
		"silence cluster=prod for 2h reason node upgrade":                   "“upgrade” is not recognized. Put a reason of several words in quotes",
		`silence cluster=prod for 2h reason "node upgrade`:                  "Missing closing quote",
		"silence cluster=prod for 2h from=tomorrow":                         "is not a time",
		"silence cluster=prod for 2h from=2026-11-24T22:00":                 "with its zone",
		"silence cluster=prod for 2h from=2026-11-22T22:00Z":                "not in the past",
		"silence cluster=prod for 2h from=2027-11-22T22:00Z":                "within 30 days",
		"silence cluster=prod for 2d reason x weekly=Sat":                   "weekly window",
		"silence cluster=prod for 2d reason x weekly=Sit/02:00-06:00":       "weekly window",
		"silence cluster=prod for 2d reason x weekly=Sat/02:00-26:00":       "weekly window",
		"silence cluster=prod for 2d reason x weekly=Sat/02:00-02:00":       "weekly window",
		"silence cluster=prod for 2h reason " + strings.Repeat("x", 301):    "300 characters",
		`silence cluster=prod "for" 2h`:                                     "is not recognized",
		strings.Repeat("x", MaxText+1):                                      "too long",
		"silence cluster=prod for 2h reason=a reason=b":                     "“reason” is given twice",
		"silence cluster=`<@U1>` for 2h":                                    "“··@U1··” is not a cluster name",
		"silence cluster=prod check=" + strings.Repeat("y", 60) + " for 2h": "…”",
		"silence cluster=222233334444/eu-west-1/prod/x nodegroup=y for 2h":  "is not a cluster name",
		"silence cluster=prod for 9999w reason x":                           "at most 30 days",
		"st\u202eat\u200bus\u0087\u2028\n":                                  "Unknown command: /rollcall “st·at·us·”",
		"日本é":                                                               "Unknown command: /rollcall “日本é”",
	} {
		_, err := Parse(text, now, known)
		var p *Problem
		if !errors.As(err, &p) || !strings.Contains(p.Says, want) {
			t.Errorf("%.60s: %v; want %q", text, err, want)
		}
	}
}

func TestParse(t *testing.T) {
	prod := spoke.Cluster{Name: "prod"}
	quiet := func(change func(*report.Ask)) report.Ask {
		a := report.Ask{Verb: report.AskSilence, Cluster: prod, For: 2 * time.Hour}
		if change != nil {
			change(&a)
		}
		return a
	}
	for text, want := range map[string]report.Ask{
		"":                                       {Verb: report.AskHelp},
		"  HELP ":                                {Verb: report.AskHelp},
		"status":                                 {Verb: report.AskStatus},
		"Clusters":                               {Verb: report.AskClusters},
		"silences":                               {Verb: report.AskSilences},
		"unsilence AB12cd34":                     {Verb: report.AskUnsilence, Silence: "ab12cd34"},
		"why i-0abc1234def567890":                {Verb: report.AskWhy, Instance: "i-0abc1234def567890"},
		"why i-0abc1234":                         {Verb: report.AskWhy, Instance: "i-0abc1234"},
		"report":                                 {Verb: report.AskReport, For: 24 * time.Hour},
		"report 7d cluster=prod":                 {Verb: report.AskReport, For: 7 * 24 * time.Hour, Cluster: prod},
		"silence cluster=prod for 2h":            quiet(nil),
		"silence for=2H cluster=prod":            quiet(nil),
		"silence cluster=prod for 120m":          quiet(nil),
		`silence cluster=prod for 2h reason "a"`: quiet(func(a *report.Ask) { a.Reason = "a" }),
		"silence cluster=prod for 2h reason “node  upgrade, it's fine”": quiet(func(a *report.Ask) { a.Reason = "node upgrade, it's fine" }),
		`silence cluster=prod for 2h reason="node upgrade"`:             quiet(func(a *report.Ask) { a.Reason = "node upgrade" }),
		"silence cluster=prod nodegroup=workers for 2h":                 quiet(func(a *report.Ask) { a.Nodegroup = "workers" }),
		"silence cluster=prod tag=team=payments=eu for 2h":              quiet(func(a *report.Ask) { a.Tag = &silence.Tag{Key: "team", Value: "payments=eu"} }),
		`silence cluster=prod tag="cost center=a b" for 2h`:             quiet(func(a *report.Ask) { a.Tag = &silence.Tag{Key: "cost center", Value: "a b"} }),
		"silence cluster=prod check=Route/No-Egress for 2h":             quiet(func(a *report.Ask) { a.Check = "route/no-egress" }),
		"silence cluster=222233334444/eu-west-1/prod for 2h":            quiet(func(a *report.Ask) { a.Cluster.ID = spoke.ID{Account: "222233334444", Region: "eu-west-1"} }),
		"silence cluster=prod from=2026-11-24T22:00+01:00 for 2h":       quiet(func(a *report.Ask) { a.From = time.Date(2026, 11, 24, 21, 0, 0, 0, time.UTC) }),
		"silence cluster=prod for 2h weekly=saturday/22:00-02:30": quiet(func(a *report.Ask) {
			a.Weekly = &silence.Window{Day: time.Saturday, From: 22 * time.Hour, To: 150 * time.Minute}
		}),
		"silence cluster=prod\u00a0for\t2h reason 'a \"quoted\" word'": quiet(func(a *report.Ask) { a.Reason = `a "quoted" word` }),
	} {
		got, err := Parse(text, now, known)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", text, err, diff)
		}
	}
}

// unseen reports whether a character is not seen, or turns the direction of a line.
func unseen(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) }

// FuzzParse: whatever is typed is understood, or answered in a sentence that is harmless
// in Slack. What is understood is a silence that may be.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"", "status", "why i-0abc1234", `silence cluster=prod for 2h reason "x"`, "silence “", "silence cluster=<!here> for 2h", "report 7d", "unsilence ab12cd34", "silence cluster=a weekly=Sat/02:00-06:00 for 3d reason=x"} {
		f.Add(text)
	}
	f.Add("\u0087")
	f.Fuzz(func(t *testing.T, text string) {
		ask, err := Parse(text, now, known)
		var p *Problem
		switch {
		case err != nil && !errors.As(err, &p):
			t.Errorf("%q: %v is no sentence", text, err)
		case err != nil && (len(p.Says) > 700 || strings.ContainsAny(p.Says, "<>&") || strings.ContainsFunc(p.Says, unseen)):
			t.Errorf("%q is answered by %q", text, p.Says)
		case err == nil && ask.Verb == "":
			t.Errorf("%q: nothing is asked", text)
		case err == nil && ask.Verb == report.AskSilence && soundAsk(ask, now) != nil:
			t.Errorf("%q: %+v cannot be", text, ask)
		}
	})
}
