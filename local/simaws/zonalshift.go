package simaws

import (
	"context"
	"encoding/json"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/zonalshift"
)

// ZonalShift is ARC zonal shift, of a world that has it.
type ZonalShift interface {
	ListZonalShifts(*zonalshift.Input) (json.RawMessage, error)
	ListAutoshifts(*zonalshift.Input) (json.RawMessage, error)
	ListManagedResources(*zonalshift.Input) (json.RawMessage, error)
}

// HandleZonalShift serves ARC zonal shift, and returns its operations.
func HandleZonalShift(s *wire.Server, z ZonalShift) []string {
	get := func(operation, path string, answer func(*zonalshift.Input) (json.RawMessage, error)) {
		wire.HandleGet(s, "arczonalshift", operation, path, func(_ context.Context, _ *wire.Call, in *zonalshift.Input) (json.RawMessage, error) {
			return answer(in)
		})
	}
	get("ListZonalShifts", "/zonalshifts", z.ListZonalShifts)
	get("ListAutoshifts", "/autoshifts", z.ListAutoshifts)
	get("ListManagedResources", "/managedresources", z.ListManagedResources)
	return []string{"ListZonalShifts", "ListAutoshifts", "ListManagedResources"}
}
