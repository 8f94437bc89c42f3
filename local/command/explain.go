package command

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"rollcall/local/exit"
	"rollcall/local/explain"
	"rollcall/shared/node/text"
)

func explainCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "explain TEXT|-",
		Short: "Tell what a message of AWS, Kubernetes or Karpenter means",
		Long: `Tells to which check a text points, and what to look at next: a message of AWS,
a line of a log, a condition or an event of Kubernetes, as it was pasted. With
- or without arguments it is read from standard input. A text of more than 64 KiB is
read as a log: the lines that tell of something, causes first, each check once.

Exit status: 0 known; 2 nothing is known of it; 64 bad input.`,
		Example: `  rollcall explain "Could not launch Spot Instances. …"
  kubectl describe node ip-10-0-1-2.ec2.internal | rollcall explain
  journalctl -u kubelet | rollcall explain`,
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the result as one JSON object")
	c.RunE = func(c *cobra.Command, args []string) error {
		pasted := strings.Join(args, " ")
		if len(args) == 0 || pasted == "-" {
			piped := bufio.NewReaderSize(c.InOrStdin(), text.MaxPasted+1)
			begin, err := piped.Peek(text.MaxPasted + 1)
			switch {
			case err == nil:
				return explainLog(piped, c.OutOrStdout(), asJSON)
			case !errors.Is(err, io.EOF):
				return fmt.Errorf("read standard input: %w", err)
			}
			pasted = string(begin)
		}
		if strings.TrimSpace(pasted) == "" {
			return exit.Misuse("the text is empty; rollcall explain --help tells more")
		}
		p, known := explain.Point(pasted)
		if asJSON {
			if err := writeJSON(c.OutOrStdout(), p); err != nil {
				return fmt.Errorf("print the result: %w", err)
			}
		} else {
			p.Print(c.OutOrStdout())
		}
		if !known {
			return exit.Status(exit.Unsure)
		}
		return nil
	}
	return c
}

// explainLog tells what a log says.
func explainLog(in io.Reader, out io.Writer, asJSON bool) error {
	t, err := explain.ReadLog(in)
	if err != nil {
		return fmt.Errorf("read standard input: %w", err)
	}
	if asJSON {
		if err := writeJSON(out, t); err != nil {
			return fmt.Errorf("print the result: %w", err)
		}
	} else {
		t.Print(out)
	}
	if len(t.Told) == 0 {
		return exit.Status(exit.Unsure)
	}
	return nil
}
