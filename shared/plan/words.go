package plan

import (
	"strings"

	"rollcall/shared/shell"
)

// words are a plan's words for people: pure, so that the same plan reads the
// same in Slack, in the audit and in the docs.
type words struct {
	title    string   // what is done, at most 70 runes
	steps    []string // each one call
	commands []string // that do the same by hand
	undo     []string
	cost     string
}

func (p Plan) words() words {
	switch {
	case p.Route != nil:
		return p.routeWords(*p.Route)
	case p.Replace != nil:
		return p.replaceWords(*p.Replace)
	case p.Open != nil:
		return p.openWords(*p.Open)
	case p.Cover != nil:
		return p.coverWords(*p.Cover)
	case p.Cleanup != nil:
		return p.cleanupWords(*p.Cleanup)
	case p.Access != nil:
		return p.accessWords(*p.Access)
	}
	return words{title: "Nothing"}
}

// aws is a command of the AWS CLI in the plan's region: "ec2 create-route" and
// its options, each word quoted.
func (p Plan) aws(operation string, words ...any) string {
	return shell.Command(append([]any{"aws", strings.Fields(operation), "--region", p.Region}, words...)...)
}

// Title says in one line what the plan does.
func (p Plan) Title() string {
	const limit = 70
	runes := []rune(p.words().title)
	if len(runes) > limit {
		return string(runes[:limit-1]) + "…"
	}
	return string(runes)
}

// Steps say what is done, one call each, in order.
func (p Plan) Steps() []string { return p.words().steps }

// Commands do the same by hand.
func (p Plan) Commands() []string { return p.words().commands }

// Undo takes it back: commands, or a sentence where there is nothing to take back.
func (p Plan) Undo() []string { return p.words().undo }

// Cost says what it costs, in money and otherwise; empty for nothing.
func (p Plan) Cost() string { return p.words().cost }

// VPC is the VPC that the plan changes the network of; empty for none.
func (p Plan) VPC() string {
	switch {
	case p.Route != nil:
		return p.Route.VPC
	case p.Open != nil:
		return p.Open.VPC
	}
	return ""
}

// and joins a list as a sentence does.
func and(list []string) string {
	switch n := len(list); n {
	case 0:
		return ""
	case 1:
		return list[0]
	default:
		return strings.Join(list[:n-1], ", ") + " and " + list[n-1]
	}
}

// few names at most five of a list.
func few(list []string, what string) string {
	if len(list) > 5 {
		return strings.Join(list[:5], ", ") + ", …: " + count(len(list), what)
	}
	return and(list)
}
