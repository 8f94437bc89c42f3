// List writes the list of all checks (shared/checks/list.go) and the constants of
// their ids (shared/checkid/ids.go) from the files of the checks. Run it from the
// root of the repository, before what else is generated.
package main

import (
	"fmt"
	"os"

	"rollcall/shared/checks/generate/tree"
)

func main() {
	list, err := tree.Read(".")
	if err == nil {
		err = tree.Write(".", list)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "list:", err)
		os.Exit(1)
	}
}
