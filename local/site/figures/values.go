package figures

import (
	"fmt"
	"path/filepath"
	"strconv"

	"rollcall/local/simaws/worldfile"
	"rollcall/local/worldgen"
	"rollcall/shared/checkid"
	"rollcall/shared/checks"
)

// values are all figures of the page, by the name that stands there in their place.
func values() map[string]value {
	all := map[string]value{}
	for _, of := range []map[string]value{counted(), fromTests(), fromMachine(), fromStudies(), fromStage(), weak()} {
		for name, v := range of {
			all[name] = v
		}
	}
	return all
}

// phrase is what a page says in words of which the figures' page makes use.
type phrase struct{ file, says string }

func phrases() []phrase {
	return []phrase{
		{"docs/scale.md", "- Each cluster was visited within two ticks of five minutes."},
		{"docs/scale.md", "- Each launch has its one outcome:"},
		{"docs/scale.md", "- No call was throttled."},
		{"docs/scale.md", "- One message for each cause:"},
		{"docs/slack.md", "one message a second in a channel"},
		{"shared/network/address/tally_test.go", "for n := range 8 {"},
	}
}

// counted are figures of the code itself.
func counted() map[string]value {
	return map[string]value{
		"checks":         {is: func(string) (string, error) { return strconv.Itoa(len(checks.All())), nil }},
		"faults":         {is: func(string) (string, error) { return faulty(), nil }},
		"corpus broken":  {is: func(root string) (string, error) { broken, _, err := corpus(root); return strconv.Itoa(broken), err }},
		"corpus healthy": {is: func(root string) (string, error) { _, healthy, err := corpus(root); return strconv.Itoa(healthy), err }},
	}
}

// corpus is how many broken and healthy worlds there are, as make corpus counts them.
func corpus(root string) (broken, healthy int, err error) {
	paths, err := filepath.Glob(filepath.Join(root, "local/worlds/corpus/*.yaml"))
	if err != nil {
		return 0, 0, fmt.Errorf("list the worlds: %w", err)
	}
	for _, path := range paths {
		if filepath.Base(path) == "unseen.yaml" {
			continue
		}
		file, err := worldfile.Load(path)
		if err != nil {
			return 0, 0, fmt.Errorf("read a world: %w", err)
		}
		switch {
		case file.Expect.Unknown:
		case file.Expect.Healthy:
			healthy++
		default:
			broken++
		}
	}
	return broken, healthy, nil
}

// faulty is how many checks have a fault that is put into generated worlds.
func faulty() string {
	ids := map[checkid.ID]bool{}
	for _, f := range worldgen.Faults() {
		ids[f.Check] = true
	}
	return strconv.Itoa(len(ids))
}

// fromTests are what tests hold, and constants by which programs fail: who changes them
// there changes them here.
func fromTests() map[string]value {
	const (
		calls = "shared/gather/calls_test.go"
		tally = "shared/network/address/tally_test.go"
		kills = "functions/eni-cleanup/enicleanup/kill_test.go"
		burst = "local/stage/story_test.go"
		each1 = `worlds, kills := testfull\.Of\((\d+), \d+\), testfull\.Of\(\d+, \d+\)`
		each2 = `worlds, kills := testfull\.Of\(\d+, \d+\), testfull\.Of\((\d+), \d+\)`
	)
	look := func(nth string) string {
		return `"AWS calls of a look at 1, 10 and 1,000 instances", \[\]int\{total\(one\), total\(ten\), total\(many\)\}, \[\]int\{` + nth + `\}`
	}
	return map[string]value{
		"launch most":      {file: "local/demo/route.go", like: `const ownTime = (\d+) \* time\.Second`},
		"calls one":        {file: calls, like: look(`(\d+), \d+, \d+`)},
		"calls ten":        {file: calls, like: look(`\d+, (\d+), \d+`)},
		"calls many":       {file: calls, like: look(`\d+, \d+, (\d+)`)},
		"calls of one":     {file: calls, like: `one, asked := lookAt\(t, (\d+)\)`},
		"calls of ten":     {file: calls, like: `ten, _ := lookAt\(t, (\d+)\)`},
		"calls of many":    {file: calls, like: `many, askedOfMany := lookAt\(t, (\d+)\)`, of: each(most, 0)},
		"burst":            {file: burst, like: `instances := testfull\.Of\((\d+), \d+\)`, of: each(most, 0)},
		"burst few":        {file: burst, like: `instances := testfull\.Of\(\d+, (\d+)\)`},
		"burst messages":   {file: burst, like: `if n := len\(many\.messages\(\)\); n != (\d+) \{`},
		"kills":            {file: kills, like: `worlds, kills := testfull\.Of\((\d+), \d+\), testfull\.Of\((\d+), \d+\)`, of: each(product, 0)},
		"kill worlds":      {file: kills, like: each1},
		"kill each":        {file: kills, like: each2},
		"tally subnets":    {file: tally, like: `func TestTallyEqualsBruteForce[^}]*?for n := range (\d+) \{`, of: each(most, 0)},
		"tally of":         {file: tally, like: `for _, n := range \[\]int\{\d+, (\d+)\}`, of: each(most, 0)},
		"tally few":        {file: tally, like: `for _, n := range \[\]int\{(\d+), \d+\}`, of: each(most, 0)},
		"eval of":          {file: "shared/diagnose/worlds_test.go", like: `for _, n := range \[\]int\{1, 100, ([\d_]+)\}`, of: each(most, 0)},
		"peers worlds":     {file: "local/bench/peers/peers_test.go", like: `for seed := range uint64\((\d+)\)`},
		"lambda latency":   {file: "local/bench/lambdatimes/main.go", like: `const latency = (\d+) \* time\.Millisecond`},
		"lambda slack":     {file: "local/bench/lambdatimes/main.go", like: `const answerWithin = (\d+) \* time\.Second`},
		"scale latency":    {file: "docs/scale.md", like: `AWS and Kubernetes answer after (\d+ ?ms)\.`},
		"outage incidents": {file: "docs/slack.md", like: `(\d+) incidents open in the first`},
	}
}

// fromMachine are of docs/measured.md, and of what else was measured on one machine.
func fromMachine() map[string]value {
	const (
		page      = "docs/measured.md"
		functions = "## Functions"
		benches   = "## Benchmarks"
		lambda    = "docs/lambda.md"
		own       = "## At its own memory"
	)
	cold := func(function string) value {
		return value{file: lambda, under: own, like: `^\| ` + function + ` \|`, column: "cold", of: each(times(0.001), 1)}
	}
	return map[string]value{
		"cores":              {file: page, like: `On (\d+) cores`},
		"launch":             {file: page, like: `^\| play \d+ \|`, column: "from launch event to message, s", of: span(1)},
		"worlds healthy":     {file: page, like: `^\| healthy \|`, column: "worlds", of: each(most, 0)},
		"worlds broken":      {file: page, like: `^\| one fault each \|`, column: "worlds", of: each(most, 0)},
		"package least":      {file: page, under: functions, like: `^\| [a-z-]+ \|`, column: "package, MB", of: each(least, 1)},
		"package most":       {file: page, under: functions, like: `^\| [a-z-]+ \|`, column: "package, MB", of: each(most, 1)},
		"init":               {file: page, under: functions, like: `^\| \*\*all\*\* \|`, column: "process start to first event, ms", of: each(most, 0)},
		"init ninth":         {file: page, under: functions, like: `^\| \*\*all\*\* \|`, column: "nine of ten within", of: each(most, 0)},
		"memory":             {file: page, under: functions, like: `^\| [a-z-]+ \|`, column: "memory, MB", of: span(0)},
		"reflection of":      {file: page, like: "with reflection, `([a-z-]+)`"},
		"reflection":         {file: page, like: "with reflection, `[a-z-]+` is ([\\d.]+) MB", of: each(most, 0)},
		"reflection without": {file: page, like: "with reflection, `[a-z-]+` is [\\d.]+ MB instead of ([\\d.]+)", of: each(most, 0)},
		"start":              {file: page, like: "^\\| `rollcall --version`", column: "ms", of: each(most, 0)},
		"start size":         {file: page, like: "^\\| `rollcall --version`", column: "MB", of: each(most, 0)},
		"eval":               {file: page, under: benches, like: `^\| BenchmarkDiagnose/10000 `, column: "ms", of: each(times(0.001), 1)},
		"tally":              {file: page, under: benches, like: `^\| BenchmarkTally/100000 `, column: "ms", of: each(most, 0)},
		"tally kept":         {file: page, under: benches, like: `^\| BenchmarkTally/`, column: "allocated, KB", of: each(times(1), 0)},
		"tally allocations":  {file: page, under: benches, like: `^\| BenchmarkTally/`, column: "allocations"},
		"lambda press":       cold("slack-actions"),
		"lambda launch":      cold("launch-watch"),
		"lambda join":        cold("join-check"),
		"lambda report":      cold("report"),
		"weak trail":         {file: lambda, under: own, like: `^\| change-check \|`, column: "cold", of: each(times(0.001), 0)},
	}
}

// playing is how long all stories take, in words.
func playing() value {
	return value{file: "docs/measured.md", like: `All stories: ([\d.]+) s`, of: halves}
}
