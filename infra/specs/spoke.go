package specs

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"rollcall/shared/gather"
	"rollcall/shared/relay"
	"rollcall/shared/spec"
)

// SpokeTag is the tag of a spoke's role reader whose value tells of which template it is.
const SpokeTag = "RollcallSpoke"

// AskRelays is what the reader may do beside reading: ask the relays of its account's
// clusters, functions of the name that package relay gives them.
const AskRelays = "lambda:InvokeFunction"

// SpokeDigest is the same for all releases whose spokes do the same: what the reader reads,
// which relays it asks, what is forwarded, and which functions are let in as what. What
// settings add to that (an organization, what clusters opted in to) is no part of it.
func SpokeDigest(list []spec.Spec) string {
	return digest(list, []string{AskRelays, relay.FunctionName("", "*")})
}

func digest(list []spec.Spec, asks []string) string {
	type rule struct{ Name, Pattern string }
	var of struct {
		Reads   []spec.Read
		Rules   []rule
		Assumes map[string][]spec.SpokeRole
		Asks    []string
	}
	of.Asks = asks
	of.Reads, of.Assumes = ReaderReads(list), map[string][]spec.SpokeRole{}
	for _, r := range Forwarded(list) {
		of.Rules = append(of.Rules, rule{r.Name, r.Pattern})
	}
	for _, s := range list {
		if len(s.Assumes) > 0 {
			of.Assumes[s.Name] = s.Assumes
		}
	}
	text, err := json.Marshal(of)
	if err != nil {
		panic(err) // texts alone
	}
	return short(text)
}

// short is a digest as a tag has it.
func short(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:6])
}

// ReaderReads is what a spoke's reader reads: what the hub's own functions read of an
// account, each action of the same resources once; and the account's alias, for which a hub
// asks of its own account only where there are spokes.
func ReaderReads(list []spec.Spec) []spec.Read {
	reads := []spec.Read{gather.ListAccountAliases()}
	for _, s := range list {
		if !slices.Contains(s.Assumes, spec.SpokeReader) {
			continue
		}
		for _, r := range s.Reads {
			if ofAccount(r) {
				reads = append(reads, r)
			}
		}
	}
	return joined(reads)
}

// ofAccount tells what is read of the account, and not of the hub's own stack.
func ofAccount(r spec.Read) bool {
	return !slices.ContainsFunc(r.Resources, func(of string) bool { return of != "*" && !strings.HasPrefix(of, "arn:") })
}

// joined has each action of the same resources once.
func joined(reads []spec.Read) []spec.Read {
	var all []spec.Read
	for _, r := range reads {
		i := slices.IndexFunc(all, func(x spec.Read) bool { return slices.Equal(x.Resources, r.Resources) })
		if i < 0 {
			all = append(all, spec.Read{Resources: r.Resources})
			i = len(all) - 1
		}
		all[i].Actions = append(all[i].Actions, r.Actions...)
	}
	for i := range all {
		slices.Sort(all[i].Actions)
		all[i].Actions = slices.Compact(all[i].Actions)
	}
	return all
}

// Forwarded are the rules on what AWS tells, each pattern once: those that spokes have, too.
func Forwarded(list []spec.Spec) []spec.Rule {
	var rules []spec.Rule
	for _, s := range list {
		for _, r := range s.Rules {
			if OfAWS(r) && !slices.ContainsFunc(rules, func(x spec.Rule) bool { return x.Pattern == r.Pattern }) {
				r.Name = s.Name + "-" + r.Name
				rules = append(rules, r)
			}
		}
	}
	return rules
}

// OfAWS tells a rule on the default bus for events of AWS, and of nobody else.
func OfAWS(r spec.Rule) bool {
	return r.Bus == "" && len(SourcesOf(r)) > 0 && !slices.ContainsFunc(SourcesOf(r), func(s string) bool { return !strings.HasPrefix(s, "aws.") })
}

// SourcesOf are the sources that a rule's pattern names.
func SourcesOf(r spec.Rule) []string {
	var pattern struct {
		Source []string `json:"source"`
	}
	if json.Unmarshal([]byte(r.Pattern), &pattern) != nil {
		return nil // infra refuses what is no pattern
	}
	return pattern.Source
}
