package figures

// fromStudies are of histories, worlds and subnets that are simulated.
func fromStudies() map[string]value {
	const (
		factor     = "docs/factor.md"
		spot       = "docs/spot.md"
		interfaces = "docs/interfaces.md"
		runway     = "docs/runway.md"
		healthy    = "## Healthy clusters"
		pools      = "## Healthy pools"
		faulty     = "## One faulty pool"
		beside     = "12 h before, of falls of a day and more"
	)
	peer := func(row, column string) value {
		// The second table is of what empties an account; ours is in the first.
		return value{file: interfaces, like: `\*\*` + row + `\*\*`, column: column}
	}
	named := func(row string) value {
		return value{file: spot, under: faulty, like: row, column: "median"}
	}
	return map[string]value{
		"factor accused":   {file: factor, under: healthy, like: `^\|`, column: "a value accused in", of: each(sum, 0)},
		"factor histories": {is: histories},
		"factor days":      {file: factor, under: healthy, like: `histories of (\d+) days each`},
		"factor named":     {file: factor, like: `^\| the AMI of one of four nodegroups \|`, column: "median", of: each(most, 0)},
		"spot accused":     {file: spot, under: pools, like: `^\|`, column: "a healthy pool accused in", of: each(sum, 0)},
		"spot histories":   {file: spot, under: pools, like: `^\|`, column: "looked at", of: each(sum, 0)},
		"spot days":        {file: spot, under: pools, like: `Each history is (\d+) days long`},
		"spot taken":       named(`^\| 0 % join, others taken back before they join`),
		"spot none":        named(`^\| 0 % join, others do not join`),
		"spot half":        named(`^\| 50 % join, others do not join`),
		"interfaces":       {file: interfaces, like: `One world of (\d+) network interfaces`},
		"deleted ours":     peer("wrongly deleted", "Rollcall"),
		"kept ours":        peer("wrongly kept", "Rollcall"),
		"deleted cni":      peer("wrongly deleted", "VPC CNI, with CLUSTER_NAME"),
		"kept cni":         peer("wrongly kept", "VPC CNI, with CLUSTER_NAME"),
		"deleted script":   peer("wrongly deleted", "the story's script"),
		"kept script":      peer("wrongly kept", "the story's script"),
		"runway ahead":     {file: runway, like: `\| (\d+) h before, of falls of a day and more \|`},
		"runway steady":    {file: runway, like: `^\| leak, (1 to 4|4 to 20) days \|`, column: beside, of: share},
		"runway wave":      {file: runway, like: `^\| leak, 2 to 20 days, on a daily wave \|`, column: beside, of: share},
		"runway false":     {file: runway, like: `all together`, column: "false alarms in a month of a subnet"},
	}
}

// weak are of the rows that do not flatter.
func weak() map[string]value {
	const (
		spot   = "docs/spot.md"
		leaks  = "docs/leaks.md"
		runway = "docs/runway.md"
		pool   = `^\| 75 % join, others do not join, no cause found \|`
		batch  = `^\| leak, 2 to 20 days, among batch jobs \|`
		script = `^\| the story's script, 50ms a call \|`
	)
	return map[string]value{
		"weak spot":        {file: spot, like: `(?m)^\| (75) % join, others do not join`},
		"weak spot named":  {file: spot, like: pool, column: "named in"},
		"weak spot median": {file: spot, like: pool, column: "median"},
		"weak spot ninth":  {file: spot, like: pool, column: "90th percentile"},
		"weak latency":     {file: leaks, like: `(?m)^\| the story's script, (50)ms a call \|`},
		"weak script":      {file: leaks, like: script, column: "time"},
		"weak ours":        {file: leaks, like: `^\| Rollcall's eni-cleanup \|`, column: "time"},
		"weak throttled":   {file: leaks, like: script, column: "throttled", of: each(most, 0)},
		"weak batch":       {file: runway, like: batch, column: "said at all"},
		"weak batch ahead": {file: runway, like: batch, column: "12 h before, of falls of a day and more", of: share},
		"weak fast":        {file: runway, like: `^\| fast fall \|`, column: "said at all"},
		"weak weekday":     {file: runway, like: `^\| weekday wave \|`, column: "false alarms in a month of a subnet"},
		"weak early":       {file: runway, like: `^\| leak, 2 to 20 days, on a weekday wave \|`, column: "too early, in a fall"},
	}
}

// fromStage are of pages that the stage's bill, load, leaks and outages are on.
func fromStage() map[string]value {
	const (
		bill  = "docs/bill.md"
		load  = "docs/load.md"
		leaks = "docs/leaks.md"
		scale = "docs/scale.md"
		slack = "docs/slack.md"
		ours  = `^\| Rollcall's eni-cleanup \|`
	)
	company := func(like string) value { return value{file: scale, like: like} }
	return map[string]value{
		"bill small":        {file: bill, like: `(?m)^## 1 cluster, [^:]*: \$([\d.]+) a month$`},
		"bill small of":     {file: bill, like: `(?m)^## (1 cluster, [^:]*): \$`},
		"bill large":        {file: bill, like: `(?m)^## 20 clusters, [^:]*: \$([\d.]+) a month$`},
		"bill large of":     {file: bill, like: `(?m)^## (20 clusters, [^:]*): \$`},
		"load rate":         {file: load, like: `of stage time \((\d+) an hour\)`, of: each(most, 0)},
		"load launches":     {file: load, like: `(?m)^(\d+) launches in`, of: each(most, 0)},
		"load minutes":      {file: load, like: `launches in (\d+) minutes of stage time`},
		"load wrong":        {file: load, like: `^\| none, two, or a wrong one \|`, column: "launches"},
		"load cost":         {file: load, like: `\$([\d.]+) per 1,000 launches`},
		"load month":        {file: load, like: `(?m)^\| \*\*together\*\* \| \| \| \*\*\$([\d.]+)\*\* \|`, of: each(most, 0)},
		"scale accounts":    company(`(?m)^([\d,]+) accounts in [\d,]+ regions`),
		"scale regions":     company(`accounts in ([\d,]+) regions`),
		"scale clusters":    company(`regions, ([\d,]+) clusters with`),
		"scale nodes":       company(`clusters with ([\d,]+) nodes`),
		"scale away":        company(`the APIs of ([\d,]+) clusters drop all packets`),
		"scale launches":    company(`minutes \(([\d,]+) an hour\)`),
		"scale minutes":     company(`launches in ([\d,]+) minutes`),
		"scale each":        {file: scale, like: `for each cluster\*\*`, column: "1,000 clusters", of: each(most, 2)},
		"scale one":         {file: scale, like: `for each cluster\*\*`, column: "1 cluster", of: each(most, 2)},
		"leaks":             {file: leaks, like: `Nodes left (\d+) network interfaces behind`, of: each(most, 0)},
		"leaks over":        {file: leaks, like: ours, column: "beside the bucket's own", of: above},
		"leaks failed":      {file: leaks, like: ours, column: "failed"},
		"leaks throttled":   {file: leaks, like: ours, column: "throttled"},
		"leaks cents":       {file: leaks, like: `interfaces costs in us-east-1: \$([\d.]+\d)\.`, of: each(times(100), 0)},
		"leaks latency":     {file: leaks, like: `Each call takes (\d+)ms where nothing else`},
		"leaks rate":        {file: leaks, like: `the stage runs ([\d.]+) times as fast`},
		"script over":       {file: leaks, like: `^\| the story's script, 300ms a call \|`, column: "beside the bucket's own", of: above},
		"leaks memory":      {file: leaks, like: `^\| 10000 \| Rollcall's eni-cleanup`, column: "memory", of: each(most, 0)},
		"leaks memory most": {file: leaks, like: `^\| 100000 \| Rollcall's eni-cleanup`, column: "memory", of: each(most, 0)},
		"leaks held":        {file: leaks, like: `Rollcall's eni-cleanup`, column: "interfaces of the VPC", of: each(least, 0)},
		"leaks held most":   {file: leaks, like: `Rollcall's eni-cleanup`, column: "interfaces of the VPC", of: each(most, 0)},
		"load per":          {file: load, like: `\$[\d.]+ per ([\d,]+) launches`},
		"outage lost":       {file: slack, like: `^\|`, column: "lost", of: each(sum, 0)},
		"outage twice":      {file: slack, like: `^\|`, column: "said twice", of: each(sum, 0)},
		"outage minutes":    {file: slack, like: `^\|`, column: "said in full after", of: minutes},
	}
}
