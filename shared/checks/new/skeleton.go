package main

import (
	"path/filepath"
	"strings"

	"rollcall/shared/checks/generate/tree"
)

// file is a file to be written, below the root.
type file struct{ name, text string }

// worlds is where the worlds of all checks are: the corpus plays them together.
const worlds = "stage/worlds/corpus"

func skeleton(id string) []file {
	family, name, _ := strings.Cut(id, "/")
	world := family + "-" + name
	fill := strings.NewReplacer("$FAMILY", family, "$ID", id, "$NAME", tree.Name(name), "$WORLD", world, "$FUNC", lower(tree.Name(name)))
	source := tree.FileOf(id)
	return []file{
		{source, fill.Replace(checkText)},
		{strings.TrimSuffix(source, ".go") + "_test.go", fill.Replace(testText)},
		{filepath.Join(worlds, world+".yaml"), fill.Replace(brokenText)},
		{filepath.Join(worlds, world+"-healthy.yaml"), fill.Replace(healthyText)},
	}
}

// lower begins a Go name in lower case: SelfRule is selfRule, EFASelfRule is
// efaSelfRule.
func lower(name string) string {
	n := 0
	for n < len(name) && name[n] >= 'A' && name[n] <= 'Z' {
		n++
	}
	if n > 1 && n < len(name) {
		n-- // the last capital begins the next word
	}
	return strings.ToLower(name[:n]) + name[n:]
}

const checkText = `package $FAMILY

import (
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/snapshot"
)

// $NAME: TODO the rule, and the document that says it.
func $NAME() check.Check {
	return check.Check{
		ID:         "$ID",
		Title:      "TODO what is wrong, in at most 70 characters",
		Confidence: finding.Likely,
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Instances},
		AtLaunch:   true,
		Cause:      "TODO why a node does not become one for it.",
		Fix:        "TODO what to do.",
		Links:      []string{"https://docs.aws.amazon.com/TODO"},
		Run:        $FUNC,
	}
}

// $FUNC judges the instances of the scope: those that have not joined and Ready
// nodes.
func $FUNC(s *facts.View) []finding.Finding {
	var v finding.Verdicts
	suspects, well := s.Suspects()
	v.Pass(s.Cluster.Name, facts.IDs(append(suspects, well...)))
	return v.Findings()
}
`

const testText = `package $FAMILY

import (
	"testing"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// A line for each finding: outcome, resource, what it covers, the instances of a
// failure, its title.
func Test$NAME(t *testing.T) {
	checktest.RunCases(t, $NAME(), []checktest.Case{
		{Name: "healthy", World: checktest.Missed(), Want: []string{"pass prod [i-0node]"}},
		{Name: "broken", World: checktest.Missed(), Want: []string{"fail prod [i-0node] [i-0node] TODO"}},
		{Name: "not read", World: checktest.Change(snapshottest.PrivateWithNAT(), checktest.Unread(snapshot.Instances)), Want: []string{"unknown prod [] instances: denied"}},
	})
}
`

const brokenText = `extends: base.yaml
name: $WORLD
check: $ID
about: TODO what is wrong in this account.

expect:
  healthy: false
  incidents:
    - {cause: $ID, resources: [TODO]}
`

const healthyText = `extends: base.yaml
name: $WORLD-healthy
check: $ID
about: TODO what looks like it, and is right.

expect: {healthy: true, incidents: []}
`
