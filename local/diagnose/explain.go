package diagnose

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"rollcall/shared/checkid"
	"rollcall/shared/node/activity"
	"rollcall/shared/node/console"
	"rollcall/shared/node/text"
)

// pointer is what a text tells: the check that it points to, and what to look
// at next.
type pointer struct {
	Check   checkid.ID `json:"check"`
	Meaning string     `json:"meaning"`
	Next    string     `json:"next"`
	// Kind is what kind of text it is, Failed what failed in it.
	Kind   string `json:"kind"`
	Failed string `json:"failed,omitempty"`
	// Symptom tells that the check names how something shows; Look are the
	// checks that may be behind it, in the order in which to look.
	Symptom bool         `json:"symptom,omitempty"`
	Look    []checkid.ID `json:"look,omitempty"`
	// Text is the message itself, where nothing is known of it, without what
	// may be a secret.
	Text string `json:"text,omitempty"`
}

// point reads a text.
func point(pasted string) (p pointer, known bool) {
	t := text.Tell(pasted)
	p = pointerOf(t)
	if t.Check != "" {
		return p, true
	}
	p.Check, p.Text = checkid.LaunchUnclassified, activity.Clean(console.Redact(pasted))
	return p, false
}

func pointerOf(t text.Told) pointer {
	return pointer{Check: t.Check, Meaning: t.Meaning, Next: t.Next, Kind: t.Kind, Failed: t.Failed, Symptom: t.Symptom, Look: t.Look}
}

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
			return misuse{errors.New("the text is empty; rollcall explain --help tells more")}
		}
		p, known := point(pasted)
		if asJSON {
			if err := writeJSON(c.OutOrStdout(), p); err != nil {
				return fmt.Errorf("print the result: %w", err)
			}
		} else {
			p.print(c.OutOrStdout())
		}
		if !known {
			return exited{unsureStatus}
		}
		return nil
	}
	return c
}

// print writes the id in the first line, for who reads no more.
func (p pointer) print(out io.Writer) {
	fmt.Fprintln(out, p.Check)
	for _, part := range []string{p.Meaning, p.Next, p.read(), p.behind(), p.Text} {
		if part != "" {
			fmt.Fprintln(out, " ", part)
		}
	}
}

func (p pointer) read() string {
	read := "Read as " + p.Kind
	if p.Failed != "" {
		read += ": " + p.Failed
	}
	return read + "."
}

func (p pointer) behind() string {
	if len(p.Look) == 0 {
		return ""
	}
	ids := make([]string, len(p.Look))
	for i, id := range p.Look {
		ids[i] = string(id)
	}
	list := strings.Join(ids, ", ")
	if p.Symptom {
		return "It is how a fault shows. Look for what is behind it, in this order: " + list + "."
	}
	return "Look also at: " + list + "."
}
