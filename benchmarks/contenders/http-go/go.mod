module redline/http-go

go 1.22
