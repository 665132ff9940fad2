module redline/spawn-go

go 1.22
