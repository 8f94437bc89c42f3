// Command checksettings says what is wrong with the settings of a make line,
// before anything is built. It imports neither CDK nor an AWS client, so that
// it is compiled in seconds:
//
//	go run ./infra/checksettings [-no-channel] [-variables "CHANNEL SET"] -c slackChannel=C0123456789 [-c key=value]...
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"rollcall/infra/settings"
)

func main() {
	var line settings.Line
	var variables string
	flag.BoolVar(&line.NoChannel, "no-channel", false, "the target needs no channel")
	flag.StringVar(&variables, "variables", "", "the names of what stood on the make line")
	flag.Func("c", "a setting, key=value", func(text string) error {
		line.Context = append(line.Context, text)
		return nil
	})
	flag.Parse()
	line.Variables = strings.Fields(variables)
	if err := check(line); err != nil {
		fmt.Fprintf(os.Stderr, "These settings cannot be deployed:\n%v\n", err)
		os.Exit(1)
	}
}

func check(line settings.Line) error {
	context, wrong := line.Read()
	_, err := settings.Parse(context)
	return errors.Join(append(wrong, err)...)
}
