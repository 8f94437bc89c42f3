package incidents

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/shell"
)

// minute is how a time is written: in UTC, as everything that Rollcall says.
const minute = "2006-01-02 15:04"

// Print writes a list for a person.
func Print(w io.Writer, rows []Row, now time.Time) error {
	if len(rows) == 0 {
		_, err := fmt.Fprintln(w, "No incident is open.")
		return wrapped(err)
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	// Whose a cluster is is said where several accounts or regions are watched.
	several := slices.ContainsFunc(rows, func(r Row) bool { return r.Whose != "" })
	whose := func(text string) string {
		if !several {
			return ""
		}
		return text + "\t"
	}
	fmt.Fprintln(table, "STATE\tSINCE (UTC)\tFOR\tAFFECTED\t"+whose("OF")+"WHAT\tINCIDENT")
	for _, r := range rows {
		until := now
		if !r.Ended.IsZero() {
			until = r.Ended
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%s%s\t%s\n", r.State, r.Began.UTC().Format(minute), span(until.Sub(r.Began)), r.Affected, whose(r.Whose), r.Title, r.ID)
	}
	return wrapped(table.Flush())
}

// Show writes all of an incident for a person.
func Show(w io.Writer, inc incident.Incident, now time.Time) error {
	var b strings.Builder
	line := func(name, value string) {
		for k, text := range strings.Split(strings.TrimRight(value, "\n"), "\n") {
			if value == "" {
				return
			}
			if k > 0 {
				name = ""
			}
			fmt.Fprintf(&b, "  %-9s %s\n", name, text)
		}
	}
	where := inc.Key.Cluster
	if inc.Whose != "" {
		where += " (" + inc.Whose + ")"
	}
	if len(inc.Cause.Nodegroups) > 0 {
		where += " / " + strings.Join(inc.Cause.Nodegroups, ", ")
	}
	fmt.Fprintf(&b, "%s %s · %s\n", strings.ToUpper(string(inc.State)), where, inc.Cause.Title)
	line("Incident", ID(inc.Key))
	line("Account", strings.TrimSpace(inc.Account+" "+inc.Region))
	line("Cause", fmt.Sprintf("%s (%s)", inc.Key.Check, inc.Cause.Confidence))
	line("Why", inc.Cause.Why)
	began := inc.Began.UTC().Format(minute) + " UTC"
	switch {
	case inc.State == incident.Closed:
		line("When", fmt.Sprintf("%s to %s UTC, %s (%s)", began, inc.Resolved.UTC().Format(minute), span(inc.Resolved.Sub(inc.Began)), inc.Resolution))
	default:
		line("When", fmt.Sprintf("since %s, for %s", began, span(now.Sub(inc.Began))))
	}
	if inc.Number > 1 {
		line("Again", fmt.Sprintf("it is the %d. time", inc.Number))
	}
	if inc.Affected > 0 {
		line("Affected", fmt.Sprintf("%d launches", inc.Affected))
	}
	for i, l := range inc.Launches {
		if i == shown && len(inc.Launches) > shown+1 {
			line("", fmt.Sprintf("and %d more", len(inc.Launches)-shown))
			break
		}
		line("", fmt.Sprintf("%s %s", l.Instance, l.Status))
	}
	for i, e := range inc.Cause.Evidence {
		name := ""
		if i == 0 {
			name = "Seen"
		}
		line(name, e.What+": "+e.Value)
	}
	if inc.Evidence != nil {
		line("Replay", shell.Command("rollcall", "replay", ID(inc.Key))+" (from what was read then)")
	}
	line("Do", inc.Cause.Fix.Text)
	line("", inc.Cause.Fix.Command)
	if r := inc.RecentChanges; r != nil {
		for i, c := range r.Changes {
			name := ""
			if i == 0 {
				name = "Changed"
			}
			line(name, strings.TrimSpace(fmt.Sprintf("%s UTC %s called %s on %s %s", c.At.UTC().Format(minute), c.Actor, c.Call, c.Resource, c.Error)))
		}
		line("Unseen", r.Blind)
	}
	for i, e := range inc.ClearedBy {
		name := ""
		if i == 0 {
			name = "Now"
		}
		line(name, e.What+": "+e.Value)
	}
	for i, o := range inc.Offers {
		name := ""
		if i == 0 {
			name = "Remedies"
		}
		text := fmt.Sprintf("%s %s: %s", o.Made.UTC().Format(minute), o.Plan.Remedy, o.State)
		if o.By.ID != "" {
			text += fmt.Sprintf(" by %s at %s", person(o.By.Name, o.By.ID), o.Decided.UTC().Format(minute))
		}
		line(name, text)
		line("", o.Says)
	}
	if inc.Ack != nil {
		line("Taken by", person(inc.Ack.By.Name, inc.Ack.By.ID)+" at "+inc.Ack.At.UTC().Format(minute))
	}
	if inc.Mute != nil && inc.Mute.Until.After(now) {
		line("Muted", "until "+inc.Mute.Until.UTC().Format(minute)+" by "+person(inc.Mute.By.Name, inc.Mute.By.ID))
	}
	for i, f := range inc.Blind {
		name := ""
		if i == 0 {
			name = "Unread"
		}
		line(name, strings.TrimSpace(fmt.Sprintf("%s: %s %s", f.Source, f.Call, f.Reason)))
	}
	_, err := io.WriteString(w, b.String())
	return wrapped(err)
}

// shown is how many launches are named.
const shown = 10

func person(name, id string) string {
	if name == "" {
		return id
	}
	return name
}

// span is a time as people say it.
func span(d time.Duration) string {
	switch {
	case d < 0:
		return "0 min"
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

func wrapped(err error) error {
	if err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}
