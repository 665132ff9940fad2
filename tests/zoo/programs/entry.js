document.title = 'Zoo';
