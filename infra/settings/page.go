package settings

import (
	"fmt"
	"strings"
)

// Page is docs/settings.md: every key that an operator can set.
func Page() string {
	var b strings.Builder
	b.WriteString("<!-- Written by make generate. Do not edit. -->\n\n# Settings\n\nThey are set when deploying: `make deploy CHANNEL=C0123456789 CLUSTERS=prod,dev SET=\"joinTime=4m logRetentionDays=90\"`\n(`CHANNEL` is `slackChannel`, `CLUSTERS` is `clusters`). A wrong value ends the synth with a sentence, before anything is deployed.\n")
	for _, k := range Keys() {
		value := "default `" + k.Default + "`"
		if k.Default == "" {
			value = "no default"
		}
		fmt.Fprintf(&b, "\n## %s\n\n*%s*. %s\n", k.Name, value, k.About)
	}
	return b.String()
}
