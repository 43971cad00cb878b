// FFmpegSource
