package doctor

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// clusterRow is a cluster in the table at the end.
type clusterRow struct {
	cluster, account, region, whose string
	state                           State
}

// unlooked stands for the clusters of a spoke at which nobody could look.
const unlooked = "(not looked at)"

// rows are the clusters of some findings, each with the worst that is said of it and of its
// spoke: one that nobody can look at is not well.
func rows(list []Finding) []clusterRow {
	worse := map[State]int{Well: 1, Off: 1, Unknown: 2, Wrong: 3}
	var all []clusterRow
	at := map[[3]string]int{}
	ofSpoke := map[[2]string]State{}
	for _, f := range list {
		if f.Cluster == "" {
			if f.Part == "spoke" {
				id := [2]string{f.Account, f.Region}
				if worse[f.State] > worse[ofSpoke[id]] {
					ofSpoke[id] = f.State
				}
			}
			continue
		}
		key := [3]string{f.Account, f.Region, f.Cluster}
		i, known := at[key]
		if !known {
			i = len(all)
			at[key] = i
			all = append(all, clusterRow{f.Cluster, f.Account, f.Region, f.Whose, Well})
		}
		if worse[f.State] > worse[all[i].state] {
			all[i].state = f.State
		}
	}
	for i, r := range all {
		if s := ofSpoke[[2]string{r.account, r.region}]; worse[s] > worse[r.state] {
			all[i].state = s
		}
	}
	for _, f := range list {
		if f.Part == "spoke" && !slices.ContainsFunc(all, func(r clusterRow) bool { return r.account == f.Account && r.region == f.Region }) {
			all = append(all, clusterRow{unlooked, f.Account, f.Region, f.Whose, ofSpoke[[2]string{f.Account, f.Region}]})
		}
	}
	return all
}

// printClusters ends what is printed: every cluster that was looked at, with whose it is.
func printClusters(w io.Writer, list []Finding) error {
	all := rows(list)
	if len(all) == 0 {
		return nil
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\n\tCLUSTER\tACCOUNT\tREGION\tNAME")
	for _, r := range all {
		whose := r.whose
		if whose == "" {
			whose = "-"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", mark(r.state), r.cluster, r.account, r.region, whose)
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print the clusters: %w", err)
	}
	return nil
}
