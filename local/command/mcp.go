package command

import (
	"github.com/spf13/cobra"

	"rollcall/local/exit"
	"rollcall/local/mcp"
)

func mcpCommand() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "mcp",
		Short: "Serve diagnose, preflight, explain, incidents and show to an assistant",
		Long: `Serves an assistant by the Model Context Protocol, over standard input and output:
the tools diagnose, preflight, explain, incidents and show, and the files of captures
as resources. No tool changes anything. Captures are read in one folder; clusters and
deployments with your own rights.`,
		Example: `  claude mcp add rollcall -- rollcall mcp --dir "$HOME/captures"`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return exit.Misuse("%s takes no arguments: %q is one too many", c.CommandPath(), args[0])
			}
			return nil
		},
	}
	c.Flags().StringVar(&dir, "dir", ".", "the folder of the captures that may be read")
	c.RunE = func(c *cobra.Command, _ []string) error {
		return mcp.Serve(c.Context(), dir, c.Root().Version, c.InOrStdin(), c.OutOrStdout())
	}
	return c
}
