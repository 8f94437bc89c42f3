package site

// held is by what a figure of README.md is held.
type held struct {
	// says is what stands around it; %s is the figure.
	says string
	// in is a file of the code that says quote, which has the figure at its %s.
	in, quote string
	// count is what this test counts anew.
	count string
}

// measured are the pages that a target writes whole, or whose tables it writes.
func measured() map[string]string {
	return map[string]string{
		"bill.md": "bill", "load.md": "load", "interfaces.md": "peers", "leaks.md": "leaks", "runway.md": "runway", "spot.md": "spot-history",
		"factor.md": "factor", "scale.md": "organisation", "runbook.md": "runbook", "slack.md": "outage", "lambda.md": "lambda-times",
		"measured.md": "figures", "figures.md": "generate", "alarms.md": "generate",
		"texts.md": "generate", "settings.md": "generate", "checks/README.md": "generate", "workshop.md": "test-cli",
	}
}

// guides are linked pages that tell what to do: their numbers are settings, limits of AWS
// or steps, and measured ones stand in a page of measured.
func guides() []string {
	return []string{
		"README.md", "events.md", "functions.md", "cleanup.md", "deploy.md", "diagnose.md", "release.md", "remedies.md", "routes.md", "stage.md", "stories.md",
	}
}

func table() []held {
	return []held{
		{says: "(docs/checks/README.md): %s of them", count: "checks"},
		{says: "You need Go %s and", in: "go.mod", quote: "\ngo %s."},
		{says: "and Node %s (and", in: "infra/package-lock.json", quote: `"node": ">=%s.0.0"`},
		{says: "[the %s stories](docs/stories.md)", count: "stories"},
		{says: "its exit status is %s only", in: "local/command/demo.go", quote: "Exit status: %s all was seen that must be;"},
		{says: "needs these %s in its VPC", count: "readers"},
		{says: "%s alarms at most, each of which", count: "alarms"},
		{says: "beside %s other tools", count: "tools"},
	}
}
