// Command checksettings says what is wrong with the settings of a make line,
// before anything is built. It imports neither CDK nor an AWS client, so that
// it is compiled in seconds. With -tags it prints the words by which the AWS CLI gives a stack
// the tags of the settings file, quoted for the shell:
//
//	go run ./infra/checksettings [-settings rollcall.yaml] [-tags] [-no-channel] [-variables "CHANNEL SET"] -c slackChannel=C0123456789 [-c key=value]...
package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"rollcall/infra/settings"
	"rollcall/shared/shell"
)

func main() {
	var line settings.Line
	var variables, file string
	flag.StringVar(&file, "settings", "", "the settings file")
	printTags := flag.Bool("tags", false, "print the tags")
	flag.BoolVar(&line.NoChannel, "no-channel", false, "the target needs no channel")
	flag.StringVar(&variables, "variables", "", "the names of what stood on the make line")
	flag.Func("c", "a setting, key=value", func(text string) error {
		line.Context = append(line.Context, text)
		return nil
	})
	flag.Parse()
	line.Variables = strings.Fields(variables)
	var err error
	if line.File, err = settings.ReadFile(file); err == nil {
		_, _, err = line.Parse()
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "These settings cannot be deployed:\n%v\n", err)
		os.Exit(1)
	}
	if *printTags {
		fmt.Println(tagWords(line))
		return
	}
	for _, text := range line.Overridden() {
		fmt.Fprintln(os.Stderr, text)
	}
}

// tagWords are those of the option --tags; none without tags.
func tagWords(line settings.Line) string {
	_, tags, _ := line.Below(nil, "")
	if len(tags) == 0 {
		return ""
	}
	words := []string{"--tags"}
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		words = append(words, key+"="+tags[key])
	}
	return shell.Command(words)
}
