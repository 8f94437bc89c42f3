package capture

import (
	"encoding/json"

	"rollcall/local/simaws/zonalshift"
)

// ListZonalShifts answers with the zonal shifts that a request asks for.
func (a API) ListZonalShifts(in *zonalshift.Input) (json.RawMessage, error) {
	all, err := plain[zonalshift.ListZonalShiftsOutput](a.c, "arc-zonal-shift-list-zonal-shifts")
	return zonalshift.Written(all.Fitting(in), err)
}

// ListAutoshifts answers with the autoshifts likewise.
func (a API) ListAutoshifts(in *zonalshift.Input) (json.RawMessage, error) {
	all, err := plain[zonalshift.ListAutoshiftsOutput](a.c, "arc-zonal-shift-list-autoshifts")
	return zonalshift.Written(all.Fitting(in), err)
}

// ListManagedResources answers with the resources that are registered.
func (a API) ListManagedResources(*zonalshift.Input) (json.RawMessage, error) {
	return zonalshift.Written(plain[zonalshift.ListManagedResourcesOutput](a.c, "arc-zonal-shift-list-managed-resources"))
}
