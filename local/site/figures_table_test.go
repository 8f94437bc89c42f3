package site

// held is by what a figure of a page is held: each number of it stands in one of the
// files, or is counted by a test, or is written for a machine by a target.
type held struct {
	page string
	// says begins the row or the sentence.
	says string
	// in are files that a program writes and a test holds fresh, or tests and constants
	// that a figure is quoted from.
	in []string
	// counts are figures that this test counts anew.
	counts []string
	// by is the target that measures what hangs on the machine, and no file has. It is
	// printed by that target; nothing but a person writes it here.
	by string
}

// measured are the pages that a target writes whole, or whose tables it writes.
func measured() map[string]string {
	return map[string]string{
		"bill.md": "bill", "load.md": "load", "interfaces.md": "peers", "leaks.md": "leaks", "runway.md": "runway", "spot.md": "spot-history",
		"factor.md": "factor", "scale.md": "organisation", "threads.md": "threads", "runbook.md": "runbook", "slack.md": "outage", "lambda.md": "lambda-times", "evidence.md": "go run ./local/bench/evidence -page docs/evidence.md",
		"texts.md": "generate", "settings.md": "generate", "checks/README.md": "generate", "workshop.md": "demo",
	}
}

// guides are linked pages that tell what to do: their numbers are settings, limits of AWS
// or steps, and measured ones stand in a page of measured.
func guides() []string {
	return []string{
		"figures.md", "README.md", "events.md", "functions.md", "cleanup.md", "deploy.md", "diagnose.md", "release.md", "remedies.md", "routes.md", "stage.md", "stories.md",
	}
}

func table() []held {
	const (
		readme  = "README.md"
		figures = "docs/figures.md"
	)
	rows := []held{
		{page: figures, says: "generated worlds", in: []string{"docs/figures.md#-seeds 500 -each 12"}, counts: []string{"faults"}},
		{page: figures, says: "a healthy AMI", in: []string{"docs/factor.md"}, counts: []string{"histories of factor"}},
		{page: figures, says: "a healthy Spot pool", in: []string{"docs/spot.md"}},
		{page: figures, says: "a company:", in: []string{"docs/scale.md", "docs/figures.md#10,000 launches an hour"}},
		{page: figures, says: "10,000 leaked interfaces under EC2's request buckets", in: []string{"docs/leaks.md"}},
		{page: figures, says: "eni-cleanup killed at 200 random points", in: []string{"docs/figures.md#four worlds, 50 runs each"}, counts: []string{"kills"}},
		{page: figures, says: "a subnet that will be empty", in: []string{"docs/runway.md"}},
		{page: figures, says: "AWS calls of one look at everything", in: []string{"shared/gather/calls_test.go"}},
		{page: figures, says: "messages for a burst of 1,000", in: []string{"local/stage/story_test.go"}, by: "test"},
		{page: figures, says: "package (arm64, zipped)", by: "build"},
		{page: figures, says: "on Lambda's share of a core", in: []string{"docs/lambda.md"}, by: "lambda-times"},
		{page: figures, says: "process start to first event; memory", by: "build-local"},
		{page: figures, says: "pure evaluation", by: "bench"},
		{page: figures, says: "reflection are therefore", in: []string{"local/stage/size_test.go"}, by: "build"},
		{page: readme, says: "exit status is 0", in: []string{"README.md#its exit status is 0 only if everything was seen"}},
		{page: readme, says: "catalogue of checks", counts: []string{"checks"}},
		{page: readme, says: "You need Go", in: []string{"go.mod", "infra/package.json"}, by: "test"},
		{page: readme, says: "pure evaluation", counts: []string{"checks"}, by: "bench"},
	}
	for _, page := range []string{readme, figures} {
		rows = append(rows,
			held{page: page, says: "launch event to Slack post (our", in: []string{"local/demo/route.go"}, by: "demo"},
			held{page: page, says: "root cause named first; false alarms", counts: []string{"broken worlds", "healthy worlds"}},
			held{page: page, says: "the bill while nothing happens", in: []string{"docs/bill.md"}},
			held{page: page, says: "launches at a rate of", in: []string{"docs/load.md", "docs/figures.md#at a rate of 10,000 an hour"}},
			held{page: page, says: "interfaces wrongly deleted", in: []string{"docs/interfaces.md"}},
			held{page: page, says: "Slack away for an hour", in: []string{"docs/slack.md"}},
		)
	}
	return rows
}
