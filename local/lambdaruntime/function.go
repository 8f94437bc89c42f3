package lambdaruntime

import "sync"

// function is a function with its processes.
type function struct {
	Function
	slots chan struct{} // one for each invocation that runs

	mu   sync.Mutex
	free []*environment // wait for an event
	all  map[*environment]bool
}

// idle takes a waiting process, the one used last first, as Lambda does; nil
// if there is none.
func (f *function) idle() *environment {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.free) > 0 {
		e := f.free[len(f.free)-1]
		f.free = f.free[:len(f.free)-1]
		if !e.ended() {
			return e
		}
		delete(f.all, e)
	}
	return nil
}

func (f *function) add(e *environment) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all == nil {
		f.all = make(map[*environment]bool)
	}
	f.all[e] = true
}

func (f *function) giveBack(e *environment) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.free = append(f.free, e)
}

func (f *function) forget(e *environment) {
	e.kill()
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.all, e)
}

func (f *function) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for e := range f.all {
		e.kill()
	}
	f.all, f.free = nil, nil
}
