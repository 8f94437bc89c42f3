package page

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// Command is the page of the command line: what --help prints of each command.
func Command(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString(generated + "# The command rollcall\n\n")
	b.WriteString("One program, without a deployment; [where it comes from](release.md). `rollcall COMMAND --help` prints what stands here. As `kubectl-rollcall` on the PATH it is `kubectl rollcall`.\n")
	commands := slices.DeleteFunc(slices.Clone(root.Commands()), func(c *cobra.Command) bool { return c.Hidden || c.Name() == "help" || c.Name() == "completion" })
	for _, c := range commands {
		fmt.Fprintf(&b, "\n## rollcall %s\n\n%s.\n\n```text\n%s\n```\n", c.Name(), strings.TrimSuffix(c.Short, "."), strings.TrimSpace(help(c)))
	}
	return b.String()
}

// help is what --help prints.
func help(c *cobra.Command) string {
	c.InitDefaultHelpFlag()
	about := strings.TrimSpace(c.Long)
	if about == "" {
		about = c.Short
	}
	return about + "\n\n" + c.UsageString()
}
