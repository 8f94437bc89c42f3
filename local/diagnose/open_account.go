package diagnose

import (
	"io"

	"rollcall/local/exit"
	"rollcall/local/reading"
	"rollcall/local/simaws/world"
	"rollcall/local/stage"
)

// OpenAccount is the world or the capture as an account to be read.
func OpenAccount(o Subject, notes io.Writer) (reading.Account, error) {
	so := stage.Options{Settings: map[string]string{}}
	if err := open(o, &so, notes); err != nil {
		return reading.Account{}, err
	}
	if so.Capture != nil {
		return reading.OfCapture(so.Capture), nil
	}
	file, err := so.LoadWorld()
	if err != nil {
		return reading.Account{}, exit.Misuse("not a capture or world file: %w", err)
	}
	w, err := world.New(file, world.Options{Seed: 1})
	if err != nil {
		return reading.Account{}, exit.Misuse("not a capture or world file: %w", err)
	}
	w.Advance(so.At)
	return reading.OfWorld(w, file), nil
}
